"""When what failed is restarted without a hand, and when it stays FAILED: pure, time is an argument."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from copycat_connect.cluster import Config
from copycat_connect.config.framework_names import (
    DLQ_TOPIC,
    ERRORS_RESTART,
    LOG_ERRORS,
    RESTART_MAX_PER_HOUR,
    TOLERANCE,
)
from copycat_connect.config.healing import Healing, RestartMode
from copycat_connect.failure_kind import FailureKind

HOUR_SECONDS: Final = 3600.0
#: The waits of what ran this long before it failed begin anew.
STEADY_SECONDS: Final = 60.0

_THEN: Final = "then restart what failed"
_NEXT_STEP: Final[Mapping[FailureKind, str]] = {
    FailureKind.CONFIGURATION: "Correct the connector's configuration",
    FailureKind.AUTHORISATION: f"Give its login the right it lacks, or it another login, {_THEN}",
    FailureKind.TRANSIENT: f"See why the system that the trace names is away, {_THEN}",
    FailureKind.OFFSET: (
        "Stop the connector, alter its offsets (PATCH offsets) or reset them (DELETE offsets), then resume it"
    ),
    FailureKind.POISON_RECORD: f"Mend the record that the trace names, or what wrote it, {_THEN}",
    FailureKind.RESOURCE: f"Give it more of what has run out, {_THEN}",
    FailureKind.BUG: (
        "The trace says where the code failed: report it to the connector's author. A restart may help; "
        f"{ERRORS_RESTART}=always restarts after such failures too"
    ),
}
_TOLERATE: Final = f"Set {TOLERANCE}=all, for a sink with {DLQ_TOPIC}, or mend what wrote the record, {_THEN}"


@dataclass(frozen=True, slots=True)
class Restarts:
    """What is known of the restarts, without a hand, of a connector or task."""

    times: tuple[float, ...] = ()
    """When they were, within the last hour, seconds on the caller's clock."""
    in_a_row: int = 0
    """How many since it ran steadily."""
    running_since: float | None = None
    """When it began to run last; None while it does not."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What is done about a failure."""

    restarts: Restarts
    wait: float | None
    """Seconds until the restart; None when it stays FAILED."""
    text: str
    """Why, for the user; empty where restarts are off."""
    opens_circuit: bool = False
    """It stays FAILED because it was restarted too often, not because of its kind."""


def tolerates(connector: Config) -> bool:
    """Return whether a connector leaves bad records out; a sink's task does where it can report them."""
    reports = bool(connector.get(DLQ_TOPIC)) or connector.get(LOG_ERRORS) == "true"
    return connector.get(TOLERANCE) == "all" and reports


def after_failure(
    before: Restarts,
    healing: Healing,
    kind: FailureKind,
    now: float,
    random: float,
    *,
    tolerance_helps: bool = False,
) -> Verdict:
    """Decide about a connector or task that has failed.

    Args:
        before: Its restarts so far.
        healing: What its connector says of restarts.
        kind: What the failure means.
        now: Seconds on the clock of `before`.
        random: From 0 to 1: how much of the jitter is added to the wait.
        tolerance_helps: Whether another `errors.tolerance` could leave the record out that was the reason.
    """
    poison = kind is FailureKind.POISON_RECORD
    next_step = _TOLERATE if poison and tolerance_helps else _NEXT_STEP[kind]
    ran_steadily = before.running_since is not None and now - before.running_since >= STEADY_SECONDS
    times = tuple(each for each in before.times if now - each < HOUR_SECONDS)
    known = Restarts(times, 0 if ran_steadily else before.in_a_row)
    if healing.mode is RestartMode.OFF:
        return Verdict(known, None, "")
    if healing.mode is RestartMode.TRANSIENT and not kind.passes:
        return Verdict(known, None, f"A {kind.value} failure does not pass by itself. {next_step}.")
    if len(times) >= healing.per_hour:
        text = (
            f"A {kind.value} failure, after {len(times)} restarts within an hour ({RESTART_MAX_PER_HOUR}): "
            f"it stays FAILED. {next_step}."
        )
        return Verdict(known, None, text, opens_circuit=True)
    wait = healing.backoff.wait(known.in_a_row, random)
    text = (
        f"A {kind.value} failure: restarted in {wait:.0f} s, restart {len(times) + 1} of at most "
        f"{healing.per_hour} within an hour ({ERRORS_RESTART}={healing.mode.value})."
    )
    return Verdict(replace(known, times=(*times, now + wait), in_a_row=known.in_a_row + 1), wait, text)
