"""A secret that all programs of one user on this machine find in a file."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from copycat_connect.config.worker_keys import CLUSTER_SECRET
from copycat_connect.errors import ConfigError
from copycat_connect.private_files import close_to_others, make_private
from copycat_rpc.secret import new_secret


def shared_secret(folder: Path) -> str:
    """Return the secret kept in a folder; whoever comes first makes it, and all get the same.

    Raises:
        ConfigError: The folder cannot be used.
    """
    file = folder / CLUSTER_SECRET.name
    try:
        if not folder.is_dir():
            make_private(folder)
        if not file.exists():
            _offer(file)
        close_to_others(file)
        return file.read_text("ascii").strip()
    except OSError as error:
        raise ConfigError(
            f"The secret of the cluster cannot be kept in {file} ({error.strerror}). Name a folder you may"
            f" write, or set {CLUSTER_SECRET.name}",
            key=CLUSTER_SECRET.name,
        ) from error


def _offer(file: Path) -> None:
    """Write a new secret unless another process is quicker; a link makes the whole file appear, or fails."""
    descriptor, name = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}.")  # for its owner only
    mine = Path(name)
    with os.fdopen(descriptor, "w", encoding="ascii") as half:
        half.write(f"{new_secret()}\n")
    try:
        file.hardlink_to(mine)
    except FileExistsError:
        return
    finally:
        mine.unlink()
