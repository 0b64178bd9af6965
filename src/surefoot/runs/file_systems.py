"""Whether a path lies on a network file system, where locks and shared memory cannot be relied on."""

from __future__ import annotations

import os
import re
from pathlib import Path

_MOUNTS = Path("/proc/self/mountinfo")
_NETWORK = frozenset((
    "afs", "beegfs", "ceph", "cifs", "fhgfs", "gfs2", "gpfs", "lustre", "ncpfs", "nfs", "nfs4", "ocfs2", "orangefs",
    "panfs", "pvfs2", "smb3", "smbfs", "wekafs",
    "fuse.beegfs", "fuse.ceph", "fuse.glusterfs", "fuse.juicefs", "fuse.s3fs", "fuse.sshfs",
))  # fmt: skip


def is_network(path: str | os.PathLike[str]) -> bool:
    """Whether other machines may have the file system of this path, or of its nearest folder; False where unknown."""
    return _type_of(os.path.realpath(path)) in _NETWORK


def _type_of(path: str) -> str:
    """The type of the file system, by the longest mount point that the path begins with; the last mounted wins."""
    try:
        lines = _MOUNTS.read_text(errors="surrogateescape").splitlines()
    except OSError:  # not Linux
        return ""
    found, length = "", -1
    for line in lines:  # 36 35 98:0 /root /mount/point rw,noatime master:1 - ext4 /dev/sda rw
        before, _, after = line.partition(" - ")
        mount = re.sub(r"\\(\d{3})", lambda octal: chr(int(octal[1], 8)), before.split()[4])
        inside = path == mount or path.startswith(mount.rstrip("/") + "/")
        if inside and len(mount) >= length:
            found, length = after.split()[0], len(mount)
    return found
