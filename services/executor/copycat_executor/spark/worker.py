"""What Spark runs in a Python worker: one host, from its spec to its summary."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from copycat_executor.taskhost.spec import HostSpec


def run(specs: Iterable[str]) -> Iterator[str]:
    """Run the host of the one spec; give its summary when it ended."""
    from copycat_executor.taskhost.entry import run_host  # noqa: PLC0415 - 135 ms that the driver saves

    for spec in specs:
        yield run_host(HostSpec.from_json(spec))


def idle(specs: Iterable[str]) -> Iterator[str]:
    """Go the way of a host through Spark and do nothing."""
    return iter(specs)
