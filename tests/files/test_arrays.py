"""Arrays are read as NumPy wrote them; a damaged file is a `ValueError`."""

from __future__ import annotations

import io
import zipfile

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from tf_charagram._files.arrays import open_arrays, read_arrays

ARRAYS = {
    "table": np.arange(12, dtype=np.float32).reshape(3, 4) / 8,
    "fortran": np.asfortranarray(np.arange(6).reshape(2, 3)),
    "deep/name": np.array([1, 255], np.uint8),
    "big": np.array([1, 2], ">i4"),
    "one": np.float64(0.5),
    "none": np.zeros((0, 7), np.float16),
}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "arrays.npz"


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_round_trip(path, save):
    save(path, **ARRAYS)
    arrays = read_arrays(path)
    assert list(arrays) == list(ARRAYS)
    for name, array in ARRAYS.items():
        assert arrays[name].dtype == array.dtype
        assert_array_equal(arrays[name], array)
    with open_arrays(path) as file:
        assert file.infos["table"].shape == (3, 4)
        with pytest.raises(KeyError, match="nothing"):
            file.read("nothing")


def test_kinds(path):
    np.savez(path, keys=np.arange(3), text=np.array(["a"]))
    with pytest.raises(ValueError, match="holds <U1, expected numbers"):
        read_arrays(path)
    np.savez(path, **ARRAYS)
    with pytest.raises(ValueError, match="holds float32, expected numbers"):
        read_arrays(path, "iu")


@pytest.mark.parametrize("compress", [True, False])
def test_every_cut_and_every_flipped_byte(path, compress):
    (np.savez_compressed if compress else np.savez)(path, table=ARRAYS["table"])
    whole = path.read_bytes()
    for place in range(len(whole)):
        for damaged in (whole[:place], whole[:place] + b"\xa5" + whole[place + 1 :]):
            path.write_bytes(damaged)
            try:
                arrays = read_arrays(path)
            except (ValueError, KeyError, OSError):
                continue
            # Names, dates and the like may differ, numbers may not.
            assert all(np.array_equal(array, ARRAYS["table"]) for array in arrays.values())


def test_announced_size(path):
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        header, {"descr": "<f4", "fortran_order": False, "shape": (1 << 40,)}
    )
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("table.npy", header.getvalue() + b"few")
    with pytest.raises(ValueError, match=r"announces 4,398,046,511,104 bytes and has 3"):
        read_arrays(path)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("table.npy", bytes(1 << 26))
    with pytest.raises(ValueError, match="its arrays would take 67,108,864 bytes, but the file"):
        read_arrays(path)


def test_an_encrypted_member(path):
    np.savez(path, table=ARRAYS["table"])
    data = bytearray(path.read_bytes())
    for start, flags in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        data[data.index(start) + flags] |= 1
    path.write_bytes(data)
    with pytest.raises(ValueError, match="encrypted"):
        read_arrays(path)
