"""The runbook has every alert and every error code, and none that is gone."""

from __future__ import annotations

import re
from pathlib import Path

import yaml

TOP = Path(__file__).parents[3]
MONITORING = TOP / "deploy" / "monitoring"
RUNBOOK = (MONITORING / "RUNBOOK.md").read_text("utf-8")


def test_each_alert_has_a_section_that_says_what_it_means_and_what_to_do() -> None:
    [group] = yaml.safe_load((MONITORING / "alerts.yml").read_text("utf-8"))["groups"]
    sections = dict(re.findall(r"^### (\w+)\n(.*?)(?=^##)", RUNBOOK, re.MULTILINE | re.DOTALL))
    assert list(sections) == [rule["alert"] for rule in group["rules"]]
    assert [
        name for name, text in sections.items() if not re.search(r"\*\*Means\*\*.*\*\*Do\*\*", text, re.S)
    ] == []


def test_each_error_code_has_a_row() -> None:
    sources = [
        path.read_text("utf-8") for room in ("libs", "services") for path in (TOP / room).rglob("*.py")
    ]
    codes = {code for text in sources for code in re.findall(r'ErrorCode\(\s*"([\w.]+)"', text)}
    rows = re.findall(r"^\| `([\w.]+)` \|", RUNBOOK, re.MULTILINE)
    assert rows == sorted(codes)
