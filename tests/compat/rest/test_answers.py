"""Copycat's REST interface answers as that of Apache Kafka Connect 4.4.0, call by call and field by field.

`make test` compares with what Kafka Connect answered when it was recorded, the long run also with what it
answers now.
"""

from __future__ import annotations

import tempfile
from collections import Counter

import pytest

from tests.compat.rest.conftest import Answers
from tests.compat.rest.differences import DIFFERENCES, Difference, Disagreement, disagreements
from tests.compat.rest.recorded import FILE, read_requests, requests
from tests.compat.rest.script import STEPS
from tests.compat.rest.step import Step

pytestmark = pytest.mark.timeout(600)


def found(answers: Answers, step: str) -> list[Disagreement]:
    return disagreements(answers.theirs[step], answers.ours[step])


def test_every_step_has_a_name_of_its_own() -> None:
    assert [name for name, times in Counter(step.name for step in STEPS).items() if times > 1] == []


def test_the_recorded_answers_are_those_to_this_script() -> None:
    recorded = list(read_requests().items())
    assert recorded == list(requests(STEPS).items()), "record them anew: make record-answers"


def test_the_recorded_answers_say_nothing_of_the_machine_that_recorded_them() -> None:
    recorded = FILE.read_text("utf-8")
    private = (f"{tempfile.gettempdir()}/", "file:/", "127.0.0.1", "localhost")
    assert [each for each in private if each in recorded] == []


@pytest.mark.parametrize("step", STEPS, ids=lambda step: step.name)
@pytest.mark.row("K26-41", "K26-82", "K26-83", "K875-15")
def test_the_answers_agree_but_for_deliberate_differences(step: Step, answers: Answers) -> None:
    awaited = answers.theirs[step.name].reached, answers.ours[step.name].reached
    unexplained = [
        field
        for field in found(answers, step.name)
        if not any(difference.covers(step.name, field) for difference in DIFFERENCES)
    ]

    assert awaited == (True, True)
    assert unexplained == []


@pytest.mark.parametrize("difference", DIFFERENCES, ids=lambda difference: difference.reason[:60])
def test_every_deliberate_difference_is_still_one(difference: Difference, answers: Answers) -> None:
    assert any(
        difference.covers(step.name, field) for step in STEPS for field in found(answers, step.name)
    ), difference.reason
