"""What a task is started with, out of the executor's command."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from copycat.host.v1 import host_service_pb2 as pb
from copycat_connect.cluster import Config, TargetState, TopicPartition
from copycat_connect.config import ConfigDef, ConfigKey
from copycat_connect.config.placeholders import Placeholders
from copycat_connect.config.secrets import Secrets
from copycat_connect.config.worker_keys import CLIENT_METRIC_INTERVAL
from copycat_rpc.messages import config_from_proto, target_state_from_proto


@dataclass(frozen=True, slots=True)
class TaskOrder:
    """A task to run; configurations have their placeholders resolved."""

    connector: str
    """Name of the connector."""
    task: int
    """Index of the task."""
    worker_config: Config = field(repr=False)
    """The worker's configuration."""
    connector_config: Config = field(repr=False)
    """The connector's configuration."""
    task_config: Mapping[str, str] = field(repr=False)
    """The task's configuration."""
    partitions: Mapping[TopicPartition, int | None]
    """What a sink reads, with the committed positions."""
    secrets: Secrets
    """What placeholders stood for: nothing that leaves the host may say it."""
    command: bytes = field(default=b"", repr=False)
    """The command itself, with placeholders: to start parts of the task in other processes."""

    def worker_says(self, switch: ConfigKey) -> bool:
        """Return whether a switch of the worker is on.

        Raises:
            ConfigError: It is neither on nor off.
        """
        return bool(ConfigDef(switch).parse(self.worker_config)[switch.name])

    @property
    def client_metric_interval(self) -> int:
        """How often the task's Kafka client reports about itself, in milliseconds; 0 for never.

        Raises:
            ConfigError: `client.metrics.interval.ms` cannot be one.
        """
        key = CLIENT_METRIC_INTERVAL
        return int(ConfigDef(key).parse(self.worker_config)[key.name])

    @property
    def task_id(self) -> str:
        """Name the task as Kafka Connect's logs do."""
        return f"{self.connector}-{self.task}"

    @classmethod
    def of(cls, command: pb.StartTask, environment: Mapping[str, str]) -> TaskOrder:
        """Read the command; only here, where the plugin runs, secrets are resolved.

        Raises:
            ConfigError: A config provider failed.
        """
        raw = config_from_proto(command.worker_config)
        given = {key: value for key, value in raw.items() if value is not None}
        placeholders = Placeholders.from_worker(given, environment)
        worker = placeholders.read(raw)
        connector = placeholders.read(config_from_proto(command.connector_config))
        task = placeholders.read(config_from_proto(command.task_config))
        secrets = Secrets.union(worker.secrets, connector.secrets, task.secrets)
        secrets.hide()  # before any code of the plugin knows them
        return cls(
            connector=command.task.connector,
            task=command.task.task,
            worker_config=worker.values,
            connector_config=connector.values,
            task_config={key: value for key, value in task.values.items() if value is not None},
            partitions={
                TopicPartition(each.topic, each.partition): each.offset if each.offset >= 0 else None
                for each in command.partitions
            },
            secrets=secrets,
            command=command.SerializeToString(),
        )


def starts_paused(command: pb.StartTask) -> bool:
    """Return whether the task begins paused."""
    return target_state_from_proto(command.target_state) is TargetState.PAUSED
