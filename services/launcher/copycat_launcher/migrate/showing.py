"""The judgement as people and as programs read it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from copycat_cli.output.blocks import Block, Lines, Table
from copycat_connect.config.framework_names import CONNECTOR_CLASS

from copycat_launcher.migrate.findings import Finding, MigrationVerdict, worst
from copycat_launcher.migrate.judging import JudgedConnector, Judgement

SUMS = {
    MigrationVerdict.RUNS: "run as they are",
    MigrationVerdict.DIFFERS: "run with differences",
    MigrationVerdict.REFUSED: "would be refused",
    MigrationVerdict.MISSING: "need something that is not here",
}
TO_KNOW = "to know"


def tree(judgement: Judgement) -> dict[str, object]:
    """Return the judgement for programs."""
    worker = judgement.worker
    counts = _counts(judgement)
    return {
        "source": judgement.cluster.source,
        "verdict": judgement.verdict.word,
        "counts": {verdict.word: counts[verdict] for verdict in MigrationVerdict},
        "connectors": [_connector(each) for each in judgement.connectors],
        "worker": None
        if worker is None
        else {"verdict": worst(each.verdict for each in worker).word, "findings": _findings(worker)},
        "notes": list(judgement.cluster.notes),
    }


def blocks(judgement: Judgement) -> list[Block]:
    """Return the judgement for people."""
    rows = [_row(each) for each in judgement.connectors]
    columns = ("CONNECTOR", "CLASS", "VERDICT", "STATE", "TASKS", "OFFSETS")
    found = [(each.connector.name, finding) for each in judgement.connectors for finding in each.findings]
    shown: list[Block] = [
        Lines([judgement.cluster.source, *judgement.cluster.notes]),
        Table(columns, rows, "Connectors", "There are no connectors."),
    ]
    if found:
        shown.append(
            Table(
                ("CONNECTOR", "WHAT", "KEY", "WHY", "FIX"),
                [(name, *_cells(finding)) for name, finding in found],
                "What differs or is missing",
            )
        )
    if judgement.worker:
        shown.append(
            Table(("WHAT", "KEY", "WHY", "FIX"), [*map(_cells, judgement.worker)], "The worker's file")
        )
    counts = _counts(judgement)
    sums = [f"{counts[verdict]} {text}" for verdict, text in SUMS.items() if counts[verdict]]
    shown.append(Lines([", ".join(sums) or "nothing to move"], "In all"))
    return shown


def _counts(judgement: Judgement) -> Counter[MigrationVerdict]:
    return Counter(each.verdict for each in judgement.connectors)


def _connector(each: JudgedConnector) -> dict[str, object]:
    return {
        "name": each.connector.name,
        "class": each.connector.config.get(CONNECTOR_CLASS) or "",
        "type": "unknown" if each.spec is None else each.spec.kind.value,
        "verdict": each.verdict.word,
        "state": each.connector.state,
        "tasks": list(each.connector.task_states),
        "offsets": {"partitions": each.connector.positions.count, "text": each.offsets},
        "findings": _findings(each.findings),
    }


def _findings(findings: Iterable[Finding]) -> list[dict[str, str]]:
    return [{"what": _what(each), "key": each.key, "text": each.text, "fix": each.fix} for each in findings]


def _row(each: JudgedConnector) -> tuple[str, ...]:
    states = Counter(each.connector.task_states)
    return (
        each.connector.name,
        (each.connector.config.get(CONNECTOR_CLASS) or "").rpartition(".")[2],
        each.verdict.word,
        each.connector.state,
        ", ".join(f"{count} {state}" for state, count in states.items()),
        each.offsets,
    )


def _cells(finding: Finding) -> tuple[str, ...]:
    return (_what(finding), finding.key, finding.text, finding.fix)


def _what(finding: Finding) -> str:
    return TO_KNOW if finding.verdict is MigrationVerdict.RUNS else finding.verdict.word
