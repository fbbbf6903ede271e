"""Configuration maps on the wire: order is kept, a null value stays null."""

from __future__ import annotations

from copycat.types.v1 import types_pb2
from copycat_connect.cluster import Config


def config_to_proto(config: Config) -> types_pb2.Config:
    """Return the message of a configuration map."""
    return types_pb2.Config(
        entries=[types_pb2.ConfigEntry(key=key, value=value) for key, value in config.items()]
    )


def config_from_proto(message: types_pb2.Config) -> dict[str, str | None]:
    """Return the configuration map of a message, in the order it was given."""
    # Nearly every value is some text: only of an empty one it has to be asked whether it is there.
    return {entry.key: entry.value or ("" if entry.HasField("value") else None) for entry in message.entries}
