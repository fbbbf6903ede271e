"""The append: a transactional producer, and the fence that its id is."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from confluent_kafka import KafkaError, KafkaException, Message, Producer
from copycat_connect.errors import UnavailableError
from copycat_telemetry.tracing import TRACEPARENT

from copycat_eventlog.log import Record
from copycat_eventlog.producers import SILENT, end_in_background, kafka_error

TRANSACTION_TIMEOUT_SECONDS = 10.0
COMMIT_TIMEOUT_SECONDS = 20.0
CLAIM_TIMEOUT_SECONDS = 10.0
#: Kafka's default limit of a batch, less what a batch of one record adds.
MAX_RECORD_BYTES = 1_048_588 - 200


class TransactionalIdRefusedError(UnavailableError):
    """The brokers do not allow the principal this `transactional.id`."""


@dataclass(eq=False, slots=True)
class Transaction:
    """Groups of records that become visible together."""

    groups: Sequence[Sequence[Record]]
    ends: list[dict[int, int]] = field(default_factory=list)
    """Per group: partition to the offset after its last record, once the broker has them."""
    first: tuple[int, int] | None = None
    """Partition and offset of one record, once the broker has all of them: the commit may have begun.
    As long as it is None, nothing of the transaction can ever become visible."""


class TransactionalProducer:
    """Writes to one topic; creating another one with the same id fences this one (I3).

    Its calls block; one thread makes them all. After a failure it is of no more use.
    """

    def __init__(self, config: Mapping[str, str | int | bool], topic: str, transactional_id: str) -> None:
        """Build it; `config` is the connection part of a producer's configuration."""
        self._topic = topic
        config_of_producer = {
            **config,
            "transactional.id": transactional_id,
            "client.id": transactional_id,
            "acks": "all",
            "linger.ms": 0,
            "partitioner": "murmur2_random",
            "message.max.bytes": MAX_RECORD_BYTES + 200,
            "message.timeout.ms": int(TRANSACTION_TIMEOUT_SECONDS * 1000),
            "transaction.timeout.ms": int(TRANSACTION_TIMEOUT_SECONDS * 1000),
        }
        self._producer = Producer(config_of_producer, logger=SILENT)

    def claim(self) -> None:
        """Fence every former producer of this id and end its open transaction.

        Raises:
            TransactionalIdRefusedError: They never will, unless somebody allows the principal this id.
            UnavailableError: The brokers did not do it; discard this producer.
        """
        try:
            # Asked before it is connected, librdkafka waits half a second before it looks for a coordinator.
            # The first answer comes over a bootstrap connection, which it then drops; the second does not.
            for _ in range(2):
                self._producer.list_topics(self._topic, CLAIM_TIMEOUT_SECONDS)
            self._producer.init_transactions(CLAIM_TIMEOUT_SECONDS)
        except KafkaException as error:
            message = f"Could not claim {self._topic}: {kafka_error(error).str()}"
            refused = kafka_error(error).code() == KafkaError.TRANSACTIONAL_ID_AUTHORIZATION_FAILED
            raise (TransactionalIdRefusedError if refused else UnavailableError)(message) from None

    def commit(self, transaction: Transaction, begin_commit: Callable[[], object]) -> str | None:
        """Write and commit; return None, or why that failed.

        `begin_commit` is called between the two: before it returns, nobody can have read the records.
        """
        try:
            self._producer.begin_transaction()
            failure = self._write(transaction)
            if failure is not None:
                return failure
            begin_commit()
            self._producer.commit_transaction(COMMIT_TIMEOUT_SECONDS)
        # librdkafka raises fatal errors out of any call, at times as SystemError.
        except (KafkaException, SystemError, BufferError) as error:
            return kafka_error(error).str()
        return None

    def discard(self) -> None:
        """Let go without waiting."""
        holder = [self._producer]
        del self._producer
        end_in_background(holder)

    def _write(self, transaction: Transaction) -> str | None:
        failed: list[KafkaError] = []
        for group in transaction.groups:
            end: dict[int, int] = {}
            transaction.ends.append(end)
            for record in group:
                self._producer.produce(
                    self._topic,
                    key=record.key,
                    value=record.value,
                    timestamp=record.timestamp_ms or 0,  # 0 is now
                    headers=[(TRACEPARENT, record.traceparent)] if record.traceparent else None,
                    on_delivery=partial(_delivered, end, failed),
                )
        if self._producer.flush(TRANSACTION_TIMEOUT_SECONDS) > 0:
            return "the brokers did not take the records in time"
        if failed:
            return failed[0].str()
        partition, after = next(iter(transaction.ends[0].items()))
        transaction.first = (partition, after - 1)
        return None


def _delivered(
    end: dict[int, int], failed: list[KafkaError], error: KafkaError | None, message: Message
) -> None:
    # Asking the error for its name here would hide the one librdkafka raises out of the same call.
    partition, offset = message.partition(), message.offset()
    if error is not None:
        failed.append(error)
    elif partition is not None and offset is not None:
        end[partition] = max(end.get(partition, 0), offset + 1)
