"""A Python environment of one's own that has all of Copycat: tests install into it and leave ours alone."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import venv
from dataclasses import dataclass
from pathlib import Path

PROGRAMS = ("copycat", "copycat-worker")
COMMAND_SECONDS = 110.0


@dataclass(frozen=True, slots=True)
class ScratchEnvironment:
    """An environment that was made for a test."""

    folder: Path
    """Its root; named `.venv`, as that of a checkout is."""

    @property
    def copycat(self) -> Path:
        """Path of the `copycat` command installed in it."""
        return self.folder / "bin" / "copycat"

    def run(self, *words: str | Path) -> subprocess.CompletedProcess[str]:
        """Run its `copycat` to the end."""
        return subprocess.run(
            [str(self.copycat), *map(str, words)],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=COMMAND_SECONDS,
            check=False,
            env={**os.environ, "PATH": os.pathsep.join((str(_uv_folder()), os.environ["PATH"]))},
        )


def make_scratch_environment(folder: Path) -> ScratchEnvironment:
    """Make an environment `.venv` in a folder, in a second: its packages are links to ours.

    Installers see our packages as installed there: the folders that describe them are copies.
    """
    root = folder.resolve() / ".venv"
    venv.create(root, symlinks=True, with_pip=False)
    ours, theirs = _site_packages(Path(sys.prefix)), _site_packages(root)
    for entry in ours.iterdir():
        if entry.suffix == ".dist-info":
            shutil.copytree(entry, theirs / entry.name)
        elif entry.name != "__pycache__":
            (theirs / entry.name).symlink_to(entry)
    for name in PROGRAMS:
        program = root / "bin" / name
        text = (Path(sys.prefix) / "bin" / name).read_text(encoding="utf-8")
        program.write_text(text.replace(sys.prefix, str(root)), encoding="utf-8")
        program.chmod(0o755)
    return ScratchEnvironment(root)


def _site_packages(root: Path) -> Path:
    return next(root.glob("lib/python3*/site-packages"))


def _uv_folder() -> Path:
    """Return where `make setup` puts uv when the machine has none."""
    return Path(sys.prefix).parent / "build" / "uv" / "bin"
