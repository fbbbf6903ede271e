"""The commands with faked roles, which write a journal of what happens to them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from copycat_testkit.commands import Commands


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


@pytest.fixture
def commands(tmp_path: Path) -> Iterator[Commands]:
    """Give commands whose roles are faked."""
    fakes = Path(__file__).with_name("fake_roles")
    running = Commands(tmp_path, {"PYTHONPATH": str(fakes), "JOURNAL": str(tmp_path / "journal")})
    yield running
    running.close()
