"""What Apache Kafka Connect 4.4.0 answered to the script, kept in `recorded.jsonl`: a line for each step.

`make record-answers` plays the script against Kafka Connect and writes the file anew. What a system has of
its own (addresses, folders, names, ids) is kept as the placeholders of the script.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from copycat_embedded.broker import EmbeddedKafka

from tests.compat.rest.play import kafka_connect, play
from tests.compat.rest.script import STEPS
from tests.compat.rest.step import NOTHING, Answer, Step

FILE: Final = Path(__file__).with_name("recorded.jsonl")


def requests(steps: Sequence[Step]) -> dict[str, dict[str, Any]]:
    """Return what each step sends, by its name, in their order."""
    return {step.name: _request(step) for step in steps}


def read_requests() -> dict[str, dict[str, Any]]:
    """Return what was sent to Kafka Connect when its answers were recorded."""
    return {line["step"]: line["request"] for line in _lines()}


def read_answers() -> dict[str, Answer]:
    """Return the recorded answers, by the names of their steps."""
    return {line["step"]: Answer(**line["answer"]) for line in _lines()}


def write(steps: Sequence[Step], answers: Mapping[str, Answer]) -> None:
    """Record anew.

    Raises:
        ValueError: A step waited in vain: what was answered is not what the script wants to compare.
    """
    if vain := [name for name, answer in answers.items() if not answer.reached]:
        raise ValueError(f"Kafka Connect did not come to what these steps wait for: {vain}")
    lines = []
    for name, request in requests(steps).items():
        answer = answers[name]
        shown = {"status": answer.status, "headers": answer.headers, "body": answer.body}
        lines.append(json.dumps({"step": name, "request": request, "answer": shown}, ensure_ascii=False))
    FILE.write_text("\n".join([*lines, ""]), "utf-8")


def _lines() -> list[dict[str, Any]]:
    # Not by splitlines: JSON leaves some characters as they are that it takes for the ends of lines.
    return [json.loads(line) for line in FILE.read_text("utf-8").split("\n") if line]


def _request(step: Step) -> dict[str, Any]:
    sent: dict[str, Any] = {"method": step.method, "path": step.path}
    if step.headers:
        sent["headers"] = dict(step.headers)
    if step.body is not NOTHING:
        sent["body"] = step.body.decode() if isinstance(step.body, bytes) else json.dumps(step.body)
    return sent


def main() -> None:
    """Ask Kafka Connect and record its answers."""
    with (
        tempfile.TemporaryDirectory() as name,
        EmbeddedKafka(Path(name) / "kafka") as kafka,
        kafka_connect(kafka.bootstrap, Path(name)) as system,
    ):
        write(STEPS, play(system, STEPS))


if __name__ == "__main__":
    main()
