"""The commands with faked roles, which write a journal of what happens to them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from copycat_testkit.commands import Commands

#: Has what fakes a role, as a module.
FAKE_ROLES = Path(__file__).with_name("fake_roles")
#: Those that serve in a process that they share, and those that are programs only.
SHARING, PROGRAMS = ("config", "offset", "status", "scheduler"), ("executor", "gateway")


class Journal:
    """What the faked roles wrote."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def lines(self) -> list[str]:
        return self._file.read_text().splitlines() if self._file.exists() else []

    def starts(self, role: str) -> list[int]:
        """Return the process ids of a role, one for each start."""
        return [int(line.split()[2]) for line in self.lines() if line.startswith(f"up {role} ")]

    def drains(self) -> list[str]:
        return [line.split()[1] for line in self.lines() if line.startswith("drained ")]


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    return Journal(tmp_path / "journal")


def write_fakes(folder: Path) -> None:
    """Write the packages of the roles, faked: they have the real settings, but other programs."""
    for role in (*SHARING, *PROGRAMS):
        package = folder / f"copycat_{role}"
        package.mkdir(parents=True)
        files = {
            "__init__": "from pkgutil import extend_path\n\n__path__ = extend_path(__path__, __name__)\n",
            "__main__": f'from fake_role import run\n\nrun("{role}")\n',
        }
        if role in SHARING:
            files["main"] = (
                "from functools import partial\n\n"
                f'import fake_role\n\nserve = partial(fake_role.serve, "{role}")\n'
            )
        for name, text in files.items():
            (package / f"{name}.py").write_text(text, "utf-8")


@pytest.fixture
def commands(tmp_path: Path) -> Iterator[Commands]:
    """Give commands whose roles are faked."""
    write_fakes(tmp_path / "fakes")
    path = os.pathsep.join(map(str, (tmp_path / "fakes", FAKE_ROLES)))
    running = Commands(tmp_path, {"PYTHONPATH": path, "JOURNAL": str(tmp_path / "journal")})
    yield running
    running.close()
