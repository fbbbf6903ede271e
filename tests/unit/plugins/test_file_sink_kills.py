"""The file sink under exactly-once, killed at each of its steps: nothing is lost, nothing is there twice."""

from __future__ import annotations

import itertools
from contextlib import suppress
from pathlib import Path

import pytest
from copycat_connect.errors import ConnectError

from tests.unit.plugins.exact_files import PARTITION, killed_at, lines, opened, position, write

#: Every so many steps it is killed; at each of them in the long run.
EVERY = pytest.mark.parametrize("every", [5, pytest.param(1, marks=pytest.mark.long)])


def write_two_more(path: Path) -> None:
    file = opened(path)
    write(file, position(file) + 2)
    file.close()


def goes_on(path: Path) -> None:
    """See that what is stored is in the file, and no more, and that the rest can be written."""
    file = opened(path)
    stored = position(file)
    assert path.read_bytes() == lines(*range(stored))
    write(file, 9)
    file.close()
    assert path.read_bytes() == lines(*range(9))


@EVERY
def test_killed_at_any_step_of_the_first_start(tmp_path: Path, every: int) -> None:
    for step in itertools.count(1, every):
        path = tmp_path / f"out-{step}"
        if not killed_at(step, lambda path=path: write_two_more(path)):  # type: ignore[misc]
            break
        goes_on(path)
    assert step > 25


@EVERY
def test_killed_at_any_step_of_a_later_start(tmp_path: Path, every: int) -> None:
    for step in itertools.count(1, every):
        path = tmp_path / f"out-{step}"
        write_two_more(path)
        with path.open("ab") as tail:
            tail.write(b"line 2\nli")  # was not stored
        if not killed_at(step, lambda path=path: write_two_more(path)):  # type: ignore[misc]
            break
        goes_on(path)
    assert step > 15


@EVERY
@pytest.mark.parametrize("stores", [False, True], ids=["writes", "writes and stores"])
def test_killed_at_any_step_of_taking_the_file_from_one_that_goes_on(
    tmp_path: Path, stores: bool, every: int
) -> None:
    for step in itertools.count(1, every):
        path = tmp_path / f"out-{step}"
        write_two_more(path)
        frozen = opened(path)
        frozen.append(lines(2))
        killed = killed_at(step, lambda path=path: write_two_more(path))  # type: ignore[misc]

        with suppress(ConnectError):
            frozen.append(lines(3))
            if stores:
                frozen.store({PARTITION: 4})
        goes_on(path)
        with pytest.raises(ConnectError):
            write(frozen, 12)
        frozen.close()

        goes_on(path)
        if not killed:
            break
    assert step > 40
