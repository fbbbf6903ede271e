"""The pages of the built-in plugins that are documented here: `python -m tools.plugin_pages` writes them.

The page of a connector or a REST extension is the README of its package, or lies beside its module. That of a
transformation of our own lies beside its module too.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from importlib import import_module
from inspect import getfile
from itertools import groupby
from pathlib import Path
from typing import Final

from copycat_connect.config.key import ConfigKey, Importance
from copycat_connect.errors import CopycatError
from copycat_connect.plugin import (
    ExactlyOnceSupport,
    PluginKind,
    PluginSpec,
    SinkConnector,
    SourceConnector,
    load_plugins,
    render_page,
)

_HEAD: Final = """# Connectors

Each has a page with its keys (those that matter most are bold), examples and promises. All deliver at least
once, and all but those on Spark at most once on request; the table says which also deliver exactly once, with
their examples. A source that is not there (no server, table, folder, file) is waited for, and the status
[says so](../../deploy/monitoring/RUNBOOK.md#what-a-reason-says).

| connector | | what it does | exactly once | tested against |
| --- | --- | --- | --- | --- |
"""
_LIBS: Final = Path(__file__).parents[1] / "libs"
#: Packages of plugins that are one module each, or a package.
_KINDS: Final = ("connectors", "rest_extensions")
_MIRROR: Final = "org.apache.kafka.connect.mirror"
_HDFS_SINK: Final = "io.confluent.connect.hdfs.HdfsSinkConnector"
#: Connectors that share most of their keys with another, whose page describes these.
_KEYS_AS: Final = {
    f"{_MIRROR}.MirrorCheckpointConnector": f"{_MIRROR}.MirrorSourceConnector",
    f"{_MIRROR}.MirrorHeartbeatConnector": f"{_MIRROR}.MirrorSourceConnector",
    "org.apache.kafka.copycat.HDFSSinkConnector": _HDFS_SINK,
    "org.apache.kafka.copycat.JDBCSourceConnector": "io.confluent.connect.jdbc.JdbcSourceConnector",
}
#: Connectors whose page has their important keys, and refers to a larger one for the others they share.
_LESSER_KEYS_AS: Final = {
    "copycat_plugins.connectors.object_sink.connector.ObjectSinkConnector": _HDFS_SINK,
    "io.confluent.connect.s3.S3SinkConnector": _HDFS_SINK,
    "copycat_objects.spark.connector.SparkSourceConnector": (
        "copycat_plugins.connectors.object_source.connector.ObjectSourceConnector"
    ),
}
#: How the classes begin that Kafka Connect has for its own tests.
_FOR_TESTS: Final = "org.apache.kafka.connect.tools."
_DIRECTIONS: Final = {PluginKind.SOURCE: "into Kafka", PluginKind.SINK: "out of Kafka"}


def _connector_index(connectors: Iterable[tuple[Path, PluginSpec]], folder: Path) -> str:
    """Return the page of the table; `connectors` are specs with their pages, `folder` is where it lies."""
    found = sorted(connectors, key=lambda each: str(each[0]))
    useful = [each for each in found if not each[1].class_name.startswith(_FOR_TESTS)]
    table = "".join(
        _row(page, [spec for _, spec in specs], folder)
        for page, specs in groupby(useful, key=lambda each: each[0])
    )
    others = ", ".join(_link(page, spec, folder) for page, spec in found if (page, spec) not in useful)
    return f"{_HEAD}{table}\nFor system tests, as Kafka Connect has them: {others}.\n"


def _link(page: Path, spec: PluginSpec, folder: Path) -> str:
    return f"[{spec.class_name.rpartition('.')[2]}]({os.path.relpath(page, folder)})"


def _row(page: Path, specs: list[PluginSpec], folder: Path) -> str:
    names = dict.fromkeys(spec.class_name for spec in specs)
    first = specs[0]
    title = _link(page, first, folder)
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
    connector: SourceConnector | SinkConnector = spec.make()
    for example in spec.examples.values():
        config = {"name": "example", "connector.class": spec.class_name, "tasks.max": "1", **example}
        try:
            yield connector.exactly_once_support(config)
        except CopycatError:
            yield None


INDEX: Final = _LIBS / "plugins/CONNECTORS.md"
"""The table of the connectors."""


def pages() -> Iterator[tuple[Path, str]]:
    """Yield the file and the text of each page; the plugins of one module share theirs."""
    plugins = load_plugins().all()
    for file, group in groupby(plugins, _page):
        if file is not None:
            specs = list(group)
            texts = [render_page(specs[0], _elsewhere(file, specs[0], plugins))]
            texts += [
                render_page(_without_what_was_said(spec, specs[:number]), _described(spec, specs[0], ""))
                for number, spec in enumerate(specs[1:], 1)
            ]
            yield file, "\n".join(texts)
    connectors = [(file, spec) for spec in plugins if spec.kind.is_connector and (file := _page(spec))]
    yield INDEX, _connector_index(connectors, INDEX.parent)


def _elsewhere(file: Path, spec: PluginSpec, plugins: Iterable[PluginSpec]) -> Mapping[str, str]:
    """Return which keys of a plugin the page of a larger one has in the same words, with a link to that."""
    lesser = _LESSER_KEYS_AS.get(spec.class_name)
    name = lesser or _KEYS_AS.get(spec.class_name)
    other = next((each for each in plugins if each.class_name == name), None)
    page = _page(other) if other else None
    if other is None or page is None:
        return {}
    described = _described(spec, other, os.path.relpath(page, file.parent))
    if not lesser:
        return described
    important = {key.name for key in spec.config.keys.values() if key.importance is Importance.HIGH}
    return {key: link for key, link in described.items() if key not in important}


def _without_what_was_said(spec: PluginSpec, before: Iterable[PluginSpec]) -> PluginSpec:
    """Return the spec of a plugin without guarantees and examples that an earlier one of its page has."""
    said = [each.guarantees for each in before]
    shown = [dict(each.examples) for each in before]
    return replace(
        spec,
        guarantees="" if spec.guarantees in said else spec.guarantees,
        examples={} if dict(spec.examples) in shown else spec.examples,
    )


def _described(spec: PluginSpec, other: PluginSpec, page: str) -> Mapping[str, str]:
    """Return the keys that another plugin has in the same words, each with a link to its page."""
    name = other.class_name.rpartition(".")[2]
    link = f"[{name}]({page or f'#{name.lower()}'})"
    return {name: link for name, key in spec.config.keys.items() if _same(key, other.config.keys.get(name))}


def _same(key: ConfigKey, other: ConfigKey | None) -> bool:
    return (
        other is not None
        and (key.type, key.doc, key.has_default)
        == (
            other.type,
            other.doc,
            other.has_default,
        )
        and (not key.has_default or key.default == other.default)
    )


def _page(spec: PluginSpec) -> Path | None:
    """Return the file of a plugin's page; None for others' plugins, and for those Kafka Connect describes."""
    if spec.kind.is_connector or spec.kind is PluginKind.REST_EXTENSION:
        file = Path(getfile(import_module(spec.module)))
        page = file.with_suffix(".md") if file.parent.name in _KINDS else file.with_name("README.md")
        return page if page.is_relative_to(_LIBS) else None
    own = spec.class_name.rpartition(".")[0]
    return (
        Path(getfile(import_module(own))).with_suffix(".md") if own.startswith("copycat_plugins.") else None
    )


def main() -> None:
    """Write the pages of all plugins beside their code."""
    for file, text in pages():
        file.write_text(text, "utf-8")


if __name__ == "__main__":
    main()
