"""The connector of the page for authors passes the suites of every connector, with nothing but the API."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import ModuleType

import pytest
from copycat_connect.data import SourceRecord, Struct
from copycat_connect.plugin import PluginSpec, SourceTask
from copycat_testkit.conformance import SourceConformance, SpecConformance

PAGE = Path(__file__).parents[2] / "libs/connect/WRITING_A_CONNECTOR.md"
(CODE,) = re.findall(r"^```python load_connector\.py\n(.*?)^```$", PAGE.read_text("utf-8"), re.M | re.S)
MODULE = sys.modules["load_connector"] = ModuleType("load_connector")
exec(compile(CODE, "load_connector.py", "exec"), MODULE.__dict__)  # noqa: S102 - the page's own code
pytestmark = pytest.mark.row("K26-08")


class TestLoadConnector(SourceConformance):
    """Its records come by themselves and are numbered; what they measure is chance."""

    def spec(self) -> PluginSpec:
        """Return the page's connector."""
        found: PluginSpec = MODULE.PLUGINS[0]
        return found

    def config(self) -> Mapping[str, str]:
        """As often as it goes."""
        return {"topic": "load", "readings.per.second": "100"}

    def feed(self, numbers: range) -> Sequence[int]:
        """Return the numbers of the next readings."""
        return [number + 1 for number in numbers]

    def read(self, task: SourceTask, count: int) -> list[SourceRecord]:
        """Read, and keep the numbers."""
        records = super().read(task, count)
        numbers = [record.value["number"] for record in records if isinstance(record.value, Struct)]
        return [record.with_value(None, number) for record, number in zip(records, numbers, strict=True)]


class TestRound(SpecConformance):
    """The page's transformation."""

    def spec(self) -> PluginSpec:
        """Return it."""
        found: PluginSpec = MODULE.PLUGINS[1]
        return found


def test_it_imports_the_api_and_the_standard_library_alone() -> None:
    imported = {
        name.partition(".")[0]
        for node in ast.walk(ast.parse(CODE))
        for name in ([node.module or ""] if isinstance(node, ast.ImportFrom) else _names(node))
    }
    assert imported - sys.stdlib_module_names == {"copycat_connect"}


def _names(node: ast.AST) -> list[str]:
    return [each.name for each in node.names] if isinstance(node, ast.Import) else []
