"""Fixtures: a made-up table in two files, and functions that read the result."""

from __future__ import annotations

import random

import pytest

from tf_charagram.search._partitions import in_memory

pyarrow = pytest.importorskip("pyarrow", reason="pip install 'tf-charagram[parquet]'")
parquet = pytest.importorskip("pyarrow.parquet")

GIVEN = "Anna Bernd Clara David Emma Felix Greta Hans Ida Jakob Karla Lukas Maria Nils Olga".split()
ENDS = "mann berg hoff stein wald bach feld horn baum brandt".split()
STARTS = "Acker Birken Claus Dorn Eber Falken Garten Hassel Immen Jaeger".split()
ON = ["name", "city", "born"]


def typo(text, draw):
    place = draw.randrange(len(text) - 1)
    return text[:place] + text[place + 1 :]


def people(num_rows, seed=1):
    """Returns rows of people, a third of which repeat another one with typos."""
    draw = random.Random(seed)
    rows = []
    for _ in range(num_rows):
        if rows and draw.random() < 0.33:
            row = dict(draw.choice(rows))
            column = draw.choice(ON)
            row[column] = typo(row[column], draw) if draw.random() < 0.8 else row[column]
        else:
            row = {
                "name": f"{draw.choice(GIVEN)} {draw.choice(STARTS)}{draw.choice(ENDS)}",
                "city": f"{draw.choice(STARTS)}{draw.choice(['burg', 'stadt', 'hausen', 'furt'])}",
                "born": f"{draw.randrange(1930, 2005)}-{draw.randrange(1, 13):02}"
                f"-{draw.randrange(1, 29):02}",
            }
        rows.append(row)
    return {name: [row[name] for row in rows] for name in ON}


@pytest.fixture(scope="session", autouse=True)
def _in_partitions():
    """Divides small files, too, which would be compared in memory."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(in_memory, "MAX_ROWS", 0)
        yield


@pytest.fixture(scope="session")
def table():
    """Returns the columns of a table."""
    return people(500)


@pytest.fixture(scope="session")
def files(table, tmp_path_factory):
    """Returns the paths of the table in two files."""
    folder = tmp_path_factory.mktemp("people")
    paths = []
    for number, part in enumerate((slice(0, 200), slice(200, None))):
        path = folder / f"part-{number}.parquet"
        parquet.write_table(
            pyarrow.table({name: cells[part] for name, cells in table.items()}), path
        )
        paths.append(str(path))
    return paths


@pytest.fixture
def read():
    """Returns a function that reads all files of a folder as a table of Arrow."""

    def read(folder):
        paths = sorted(folder.glob("*.parquet"))
        return pyarrow.concat_tables([parquet.read_table(path) for path in paths])

    return read


def groups_in(column):
    """Returns the rows of each group of a column of group numbers."""
    rows = {}
    for row, group in enumerate(column):
        if group is not None:
            rows.setdefault(group, []).append(row)
    return sorted(rows.values())
