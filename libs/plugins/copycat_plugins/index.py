"""The table of the built-in connectors, made from their declarations; `pages.py` writes it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from pathlib import Path
from typing import Final

from copycat_connect.errors import CopycatError
from copycat_connect.plugin import ExactlyOnceSupport, PluginKind, PluginSpec, SinkConnector, SourceConnector

_HEAD: Final = """# Connectors

What comes with Copycat: each has a page with its keys, examples and what it promises. All deliver at least
once, or at most once where `delivery.guarantee` says so. Exactly once: what the connector answers when it is
asked about the examples of its page. A source that is not there (no server, cluster, table, folder, file) is
waited for, and the status of the connector [says so](../../deploy/monitoring/RUNBOOK.md#what-a-reason-says).

| connector | | what it does | exactly once | tested against |
| --- | --- | --- | --- | --- |
"""
_DIRECTIONS: Final = {PluginKind.SOURCE: "into Kafka", PluginKind.SINK: "out of Kafka"}


def connector_index(connectors: Iterable[tuple[Path, PluginSpec]], folder: Path) -> str:
    """Return the page of the table; `connectors` are specs with their pages, `folder` is where it lies."""
    rows = groupby(sorted(connectors, key=lambda each: str(each[0])), key=lambda each: each[0])
    return _HEAD + "".join(_row(page, [spec for _, spec in specs], folder) for page, specs in rows)


def _row(page: Path, specs: list[PluginSpec], folder: Path) -> str:
    names = dict.fromkeys(spec.class_name for spec in specs)
    first = specs[0]
    title = f"[{first.class_name.rpartition('.')[2]}]({page.relative_to(folder)})"
    classes = "<br>".join(f"`{name}`" for name in names)
    said = _exactly_once(specs)
    cells = (f"{title}<br>{classes}", _DIRECTIONS[first.kind], first.summary, said, first.tested_with)
    return "| " + " | ".join(cells) + " |\n"


def _exactly_once(specs: Iterable[PluginSpec]) -> str:
    answers = {answer for spec in specs for answer in _answers(spec)}
    if ExactlyOnceSupport.SUPPORTED not in answers:
        return "no"
    return "yes" if len(answers) == 1 else "with some configurations"


def _answers(spec: PluginSpec) -> Iterator[ExactlyOnceSupport | None]:
    """Ask a connector about each of its examples; one that has no example to show is asked about nothing."""
    connector: SourceConnector | SinkConnector = spec.factory()
    for example in spec.examples.values():
        config = {"name": "example", "connector.class": spec.class_name, "tasks.max": "1", **example}
        try:
            yield connector.exactly_once_support(config)
        except CopycatError:
            yield None
