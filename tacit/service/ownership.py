"""Whose files are: what root makes in the folder of a service belongs to the service, which could not read it else."""

from __future__ import annotations

import os
from pathlib import Path


def give_to_owner(path: Path) -> None:
    """Give a file that root made to the owner of its folder; others' files are theirs already."""
    if not hasattr(os, "geteuid") or os.geteuid() != 0:
        return
    owner = path.parent.stat()
    os.chown(path, owner.st_uid, owner.st_gid)
