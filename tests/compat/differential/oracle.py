"""Many questions to Java's classes in one call: a class made in the JVM answers lists of them.

Javassist, which comes with Connect's jars, compiles it, so that no JDK is needed. Its compiler knows Java
without generics, lambdas and boxing, and methods only after their declaration: `oracle.java` is written so.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

Question = dict[str, Any]
Answer = dict[str, Any]
_SOURCE = Path(__file__).parent / "oracle.java"
#: The new class lives beside this one.
_NEIGHBOUR = "py4j.GatewayServer"


class Oracle:
    """Answers of Java's and Kafka Connect's classes; `oracle.java` knows the questions."""

    def __init__(self, jvm: Any) -> None:
        """Compile the class in a JVM that has Connect's jars."""
        made = jvm.javassist.ClassPool(True).makeClass("py4j.Oracle")
        for method in _SOURCE.read_text("utf-8").strip().split("\n\n"):
            made.addMethod(jvm.javassist.CtMethod.make(method, made))
        made.toClass(jvm.java.lang.Class.forName(_NEIGHBOUR))
        self._answers = jvm.py4j.Oracle.answers

    def ask(self, question: str, details: Sequence[Question]) -> list[Answer]:
        """Return the answers to one kind of question."""
        found: list[Answer] = json.loads(
            self._answers(json.dumps([{"question": question, **each} for each in details]))
        )
        return found


def differing(questions: Sequence[Question], java: Sequence[Any], ours: Sequence[Any]) -> str:
    """Return the first questions that were answered differently, one a line; empty when all answers agree."""
    found = [
        f"{question}\n    Java:    {theirs}\n    Copycat: {own}"
        for question, theirs, own in zip(questions, java, ours, strict=True)
        if theirs != own
    ]
    return "\n".join(found[:5]) + (f"\n{len(found)} of {len(questions)}" if found else "")
