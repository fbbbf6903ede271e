"""What brokers say of an offsets topic while they still agree on its leader passes; a refusal does not."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from confluent_kafka import KafkaError, KafkaException
from copycat_connect.errors import UnavailableError
from copycat_offset.adapters.own_topic_clients import Place, TopicReader
from copycat_offset.domain.errors import OffsetsTopicError

PLACE = Place("offsets", "127.0.0.1:1", 60.0)


@pytest.mark.parametrize(
    "code",
    [KafkaError.UNKNOWN_LEADER_EPOCH, KafkaError.FENCED_LEADER_EPOCH, KafkaError.LEADER_NOT_AVAILABLE],
)
def test_disagreement_about_a_leader_is_waited_for(code: int, monkeypatch: pytest.MonkeyPatch) -> None:
    assert isinstance(PLACE.failure(KafkaError(code)), UnavailableError)
    answers: list[Mapping[int, int] | KafkaException] = [KafkaException(KafkaError(code)), {}]

    def ends(_: TopicReader) -> Mapping[int, int]:
        answer = answers.pop(0)
        if isinstance(answer, KafkaException):
            raise answer
        return answer

    monkeypatch.setattr(TopicReader, "_ask_for_ends", ends)  # brokers cannot be made to disagree
    reader = TopicReader({"bootstrap.servers": PLACE.servers}, PLACE, "read_committed")
    assert list(reader.read()) == []
    assert answers == []
    reader.close()


def test_a_refusal_names_the_topic_and_the_keys_to_correct() -> None:
    failure = PLACE.failure(KafkaError(KafkaError.TOPIC_AUTHORIZATION_FAILED))
    assert isinstance(failure, OffsetsTopicError)
    assert "offsets topic offsets" in str(failure)
    assert "consumer.override.*" in str(failure)
