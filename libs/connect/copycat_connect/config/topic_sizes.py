"""What may be asked of a topic that is to be created: positive numbers, or -1 for the broker's default."""

from __future__ import annotations

from copycat_connect.config.parsing import invalid_value
from copycat_connect.config.setting import ConfigSetting


def valid_partitions(name: str, value: ConfigSetting) -> None:
    """Accept numbers of partitions."""
    if value is None or (value < 1 and value != -1):
        reason = "Number of partitions must be positive, or -1 to use the broker's default"
        raise invalid_value(name, value, reason)


def valid_replication_factor(name: str, value: ConfigSetting) -> None:
    """Accept replication factors; whether there are brokers enough shows when the topic is created."""
    if value is None or (value < 1 and value != -1):
        reason = (
            "Replication factor must be positive and not larger than the number of brokers "
            "in the Kafka cluster, or -1 to use the broker's default"
        )
        raise invalid_value(name, value, reason)
