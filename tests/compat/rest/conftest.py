"""What Copycat answered to the script, and what Apache Kafka Connect did."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pytest

from tests.compat.rest import recorded
from tests.compat.rest.play import copycat, kafka_connect, play
from tests.compat.rest.script import STEPS
from tests.compat.rest.step import Answer


@dataclass(frozen=True, slots=True)
class Answers:
    """The answers of both systems, by step."""

    theirs: Mapping[str, Answer]
    ours: Mapping[str, Answer]


@pytest.fixture(scope="module")
def ours(kafka: str, tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Answer]:
    """Play the script against Copycat."""
    with copycat(kafka, tmp_path_factory.mktemp("rest")) as system:
        return play(system, STEPS)


@pytest.fixture(scope="module", params=["recorded", pytest.param("asked", marks=pytest.mark.long)])
def theirs(
    request: pytest.FixtureRequest, kafka: str, tmp_path_factory: pytest.TempPathFactory
) -> Mapping[str, Answer]:
    """Read what Kafka Connect answered when it was recorded, and ask it now."""
    if request.param == "recorded":
        return recorded.read_answers()
    with kafka_connect(kafka, tmp_path_factory.mktemp("rest")) as system:
        return play(system, STEPS)


@pytest.fixture(scope="module")
def answers(theirs: Mapping[str, Answer], ours: Mapping[str, Answer]) -> Answers:
    return Answers(theirs, ours)
