"""What suits a connector in its state."""

from __future__ import annotations

from copycat_cli.api.statuses import RUNNING, Status
from copycat_cli.session import Session


def next_steps(session: Session, status: Status) -> list[tuple[str, str]]:
    """Return commands, each with its purpose, for somebody who has seen this status."""
    name, state = status.name, status.connector.state
    if status.failed:
        return [
            (session.command("edit", name), "fix the configuration; what is wrong starts again by itself"),
            (
                session.command("restart", name, options=("--include-tasks", "--only-failed")),
                "or try again as it is",
            ),
        ]
    if state in {"PAUSED", "STOPPED"}:
        return [(session.command("resume", name), "let it run again")]
    if state == RUNNING:
        return [
            (session.command("offsets get", name), "how far it came"),
            (session.command("status", name, options=("--watch",)), "see it work"),
        ]
    return [(session.command("status", name, options=("--wait-for", RUNNING)), "wait until it runs")]
