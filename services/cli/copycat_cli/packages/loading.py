"""Loads the plugins of installed packages in a process of its own, as Copycat's processes will.

A process of its own sees what was installed a moment ago, and author code that crashes or hangs ends there.
`python -m copycat_cli.packages.loading NAME ...` writes one JSON object to its standard output.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Collection, Iterator
from importlib.metadata import EntryPoint, entry_points

import msgspec
from copycat_connect.plugin.loading import ENTRY_POINTS, announced_by, reason_of
from packaging.utils import canonicalize_name

LOAD_TIMEOUT_SECONDS = 60.0


class LoadedPlugin(msgspec.Struct, frozen=True):
    """A plugin that can be loaded."""

    type: str
    """`source`, `sink`, `transformation` and so on, as REST names it."""
    class_name: str
    """Its class name."""


class Loaded(msgspec.Struct, frozen=True):
    """What came of loading the plugins of one package."""

    plugins: list[LoadedPlugin] = []
    """Those that can be loaded."""
    failures: list[str] = []
    """One text for each entry point that cannot be loaded: its name, and why."""


def load_in_process_of_its_own(names: Collection[str]) -> dict[str, Loaded]:
    """Load the plugins of packages, by canonical name; the answer of one without plugins is empty."""
    try:
        done = subprocess.run(  # our own interpreter
            [sys.executable, "-m", __name__, *names],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=LOAD_TIMEOUT_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        reason = f"importing its modules did not end within {LOAD_TIMEOUT_SECONDS:.0f} s"
        return {name: Loaded(failures=[reason]) for name in names}
    try:
        return msgspec.json.decode(done.stdout, type=dict[str, Loaded])
    except msgspec.DecodeError:
        last = done.stderr.decode(errors="replace").strip().splitlines()[-1:]
        reason = ": ".join((f"importing its modules ended Python with exit code {done.returncode}", *last))
        return {name: Loaded(failures=[reason]) for name in names}


def _load(name: str) -> Loaded:
    plugins: list[LoadedPlugin] = []
    failures: list[str] = []
    for entry_point in _announcements(name):
        try:
            specs = announced_by(entry_point)
            plugins += [LoadedPlugin(spec.kind.value, spec.class_name) for spec in specs]
        except Exception as error:
            failures.append(f"{entry_point.name} = {entry_point.value}: {reason_of(error)}")
    return Loaded(plugins, failures)


def _announcements(name: str) -> Iterator[EntryPoint]:
    for entry_point in entry_points(group=ENTRY_POINTS):
        if entry_point.dist is not None and canonicalize_name(entry_point.dist.name) == name:
            yield entry_point


def main() -> None:
    """Answer on what was our standard output; what modules print while they are loaded goes to stderr."""
    with os.fdopen(os.dup(1), "wb") as answer:
        os.dup2(2, 1)
        loaded = {name: _load(name) for name in sys.argv[1:]}
        answer.write(msgspec.json.encode(loaded))
    os._exit(0)  # a thread that a module started must not keep us


if __name__ == "__main__":
    main()
