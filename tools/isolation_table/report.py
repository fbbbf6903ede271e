"""What the rows showed: a table, its page, and a file from which a table is continued."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import Final

from copycat_testkit.arrivals import Tally
from copycat_testkit.outcomes import keep_rows, markdown_table, write_between

from tools.isolation_table.measure import LATE_SECONDS, Outcome

KEPT: Final = Path("build/isolation_table.json")
"""Every row that was measured so far."""
PAGE: Final = Path(__file__).parents[2] / "services/launcher/ISOLATION.md"
_MARK: Final = "table"
_FIELDS: Final = {each.name for each in fields(Outcome)}
_HEAD: Final = ("what is done", "what becomes of it", "longest gap", "slowest answer", "repeated", "restart")


def markdown(outcomes: Iterable[Outcome]) -> str:
    """Return the table; times in seconds."""
    return markdown_table(_HEAD, map(_cells, outcomes))


def write_page(outcomes: Iterable[Outcome]) -> None:
    """Put the table into the documentation."""
    write_between(PAGE, _MARK, markdown(outcomes))


def save(outcomes: Mapping[str, Outcome], path: Path = KEPT) -> None:
    """Keep the rows, so that what was interrupted can be continued."""
    keep_rows(path, map(asdict, outcomes.values()))


def kept(path: Path = KEPT) -> dict[str, Outcome]:
    """Return the rows that were kept, by their titles; none where an older version kept them."""
    if not path.exists():
        return {}
    rows = [each for each in json.loads(path.read_text("utf-8")) if each.keys() == _FIELDS]
    found = [Outcome(**{**each, "tally": Tally(**each["tally"])}) for each in rows]
    return {each.title: each for each in found}


def _cells(outcome: Outcome) -> Sequence[str]:
    noticed = _noticed(outcome)
    return (
        outcome.title,
        (f"**{noticed}**: " if noticed else "") + _short(outcome.becomes),
        f"{outcome.gap:.1f}" + (" (all stand)" if outcome.all_notice else ""),
        f"{outcome.slowest:.1f}",
        str(outcome.tally.repeated),
        "never" if outcome.restart is None else f"{outcome.restart:.0f}",
    )


def _noticed(outcome: Outcome) -> str:
    """Return what was not contained; nothing where all was."""
    noticed = ["not as it should be"] * (not outcome.good)
    if not outcome.all_notice:
        noticed += [f"{len(outcome.problems)} refused"] * bool(outcome.problems)
        noticed += ["late"] * (max(outcome.gap, outcome.slowest) > LATE_SECONDS)
    noticed += [f"{outcome.tally.lost} lost"] * bool(outcome.tally.lost)
    return ", ".join([*noticed, *["did not come up"] * (outcome.restart is None)])


def _short(text: str) -> str:
    """Return what became of a harm without its details, which the kept rows have."""
    words = " ".join(text.split())
    health = re.match(r"(.*)RUNNING: \{'state': '(\w+)'", words)
    state = f"{health[1]}RUNNING, {health[2]}" if health else re.split(r"[:;]", words)[0]
    return state.replace("|", "\\|")
