"""A sink that copies topics to a topic, exactly once: the positions are in its producer's transactions."""

from __future__ import annotations

from collections.abc import Mapping

from confluent_kafka import Consumer, KafkaException, Producer
from confluent_kafka import TopicPartition as ClientPartition
from copycat_connect.config import ConfigDef
from copycat_connect.data import SinkBatch, TopicPartition
from copycat_connect.errors import ConnectError, RetriableError
from copycat_connect.plugin import ExactlyOnceSupport, PluginKind, PluginSpec, SinkConnector, SinkTask

_ANSWER_SECONDS = 30.0


class MirrorConnector(SinkConnector):
    """Gives every task the same configuration."""

    def start(self, config: Mapping[str, str]) -> None:
        """Keep it."""
        self._config = dict(config)

    def task_configs(self, max_tasks: int) -> list[dict[str, str]]:
        """Return as many as there may be."""
        return [self._config] * max_tasks

    def exactly_once_support(self, config: Mapping[str, str]) -> ExactlyOnceSupport:
        """Support it, and nothing else."""
        return ExactlyOnceSupport.SUPPORTED

    def stop(self) -> None:
        """Hold nothing."""


class MirrorTask(SinkTask):
    """Commits what it wrote together with the group's positions."""

    def start(self, config: Mapping[str, str]) -> None:
        """Bar former tasks: what they have open is aborted, and they can commit no more."""
        if self.context.transactional_id is None:
            raise ConnectError("Mirror delivers exactly once only: set delivery.guarantee=exactly_once")
        servers = {"bootstrap.servers": config["servers"]}
        self._target = config["target"]
        self._open = False
        self._producer = Producer({
            **servers,
            "transactional.id": self.context.transactional_id,
            "linger.ms": 5,
        })  # fmt: skip
        self._producer.init_transactions(_ANSWER_SECONDS)
        member = Consumer(
            {**servers, "group.id": self.context.group_id}
        )  # it joins nothing, it only names it
        self._group = member.consumer_group_metadata()
        member.close()

    def put(self, records: SinkBatch) -> None:
        """Send within a transaction."""
        if not records:
            return
        if not self._open:
            self._producer.begin_transaction()
            self._open = True
        for value in records.values:
            while not self._sent(str(value).encode()):
                self._producer.poll(0.1)

    def _sent(self, value: bytes) -> bool:
        try:
            self._producer.produce(self._target, value)
        except BufferError:
            return False
        return True

    def pre_commit(self, offsets: Mapping[TopicPartition, int]) -> Mapping[TopicPartition, int]:
        """Commit records and positions; the engine commits none."""
        if not self._open:
            return {}
        positions = [ClientPartition(*partition, offset) for partition, offset in offsets.items()]
        try:
            self._producer.send_offsets_to_transaction(positions, self._group)
            self._producer.commit_transaction(_ANSWER_SECONDS)
        except KafkaException as error:
            if error.args[0].txn_requires_abort():
                self._producer.abort_transaction(_ANSWER_SECONDS)
                self._open = False
                raise RetriableError("The transaction was aborted") from error
            raise
        self._open = False
        return {}

    def stop(self) -> None:
        """Leave what is open to the successor, which aborts it."""


PLUGIN = PluginSpec(
    "author.Mirror", PluginKind.SINK, "0.1", "Copies to a topic.", ConfigDef(), MirrorConnector,
    "author.MirrorTask", MirrorTask,
)  # fmt: skip
