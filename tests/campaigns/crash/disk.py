"""A folder whose disk can be filled: a small file system, where this process may mount one."""

from __future__ import annotations

import ctypes
import errno
import os
import resource
from pathlib import Path

_NEW_USER, _NEW_MOUNTS = 0x10000000, 0x00020000
_RECURSIVE_PRIVATE = 0x4000 | 0x40000
_DETACH = 2
_BYTES = 64 * 2**20


def mounts_may_be_made() -> bool:
    """Gives this process mounts of its own, which end with it; returns whether that worked.

    Call it before there are threads.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    if not hasattr(libc, "unshare"):
        return False
    user, group = os.geteuid(), os.getegid()
    if user == 0:
        is_alone = libc.unshare(_NEW_MOUNTS) == 0
    else:
        is_alone = libc.unshare(_NEW_USER | _NEW_MOUNTS) == 0
        if is_alone:
            Path("/proc/self/setgroups").write_text("deny")
            Path("/proc/self/uid_map").write_text(f"0 {user} 1")
            Path("/proc/self/gid_map").write_text(f"0 {group} 1")
    return is_alone and libc.mount(b"none", b"/", None, _RECURSIVE_PRIVATE, None) == 0


class Disk:
    """The disk of one folder.

    Args:
        folder: The folder, empty.
        is_mounted: Whether to mount a file system there; else a limit on the size of files is what
            fills it.
    """

    def __init__(self, folder: Path, is_mounted: bool) -> None:
        self.folder = folder
        self._ballast = folder / ".ballast"
        self._is_mounted = is_mounted
        if is_mounted:
            libc = ctypes.CDLL(None, use_errno=True)
            options = f"size={_BYTES},mode=700".encode()
            if libc.mount(b"tmpfs", os.fsencode(folder), b"tmpfs", 0, options):
                raise OSError(ctypes.get_errno(), "cannot mount a file system", str(folder))

    def fill(self, pid: int, bytes_left: int) -> None:
        """Leaves so many bytes to write, or so many for any one file of a process."""
        if not self._is_mounted:
            resource.prlimit(pid, resource.RLIMIT_FSIZE, (bytes_left, resource.RLIM_INFINITY))
            return
        with open(self._ballast, "wb") as file:
            while True:
                room = os.statvfs(self.folder)
                taken = room.f_bavail * room.f_frsize - bytes_left
                if taken <= 0:
                    return
                try:
                    os.posix_fallocate(file.fileno(), 0, taken)
                    return
                except OSError as error:
                    # The process has written meanwhile, so that there is less room.
                    if error.errno != errno.ENOSPC:
                        raise

    def free(self) -> None:
        """Makes room again."""
        self._ballast.unlink(missing_ok=True)

    def close(self) -> None:
        """Takes the file system away."""
        if self._is_mounted:
            ctypes.CDLL(None).umount2(os.fsencode(self.folder), _DETACH)
            self._is_mounted = False
