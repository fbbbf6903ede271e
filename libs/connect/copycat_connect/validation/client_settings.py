"""The settings of Kafka's clients, so that overrides can be shown with their definitions."""

from __future__ import annotations

from enum import Enum
from functools import cache
from importlib.resources import files

from copycat_connect.config.definition import ConfigDef
from copycat_connect.config.key import NO_DEFAULT, ConfigKey, Importance
from copycat_connect.config.setting import Type

_DEFAULTS = {r"\N": NO_DEFAULT, r"\0": None}


class Client(Enum):
    """A Kafka client of a connector; the value is how its override keys begin."""

    PRODUCER = "producer.override."
    CONSUMER = "consumer.override."
    ADMIN = "admin.override."


@cache
def client_definition(client: Client) -> ConfigDef:
    """Return the definition of a client's settings, without validators: Connect only parses overrides."""
    table = files(__package__).joinpath("client_settings.tsv").read_text("utf-8")
    rows = (line.split("\t") for line in table.splitlines() if not line.startswith("#"))
    letter = client.value[0]
    return ConfigDef(*(_key(*row[:4]) for row in rows if letter in row[4]))


def _key(name: str, type: str, default: str, importance: str) -> ConfigKey:
    return ConfigKey(
        name,
        Type(type),
        Importance(importance),
        default=_DEFAULTS.get(default, default),
        doc="A setting of the Kafka client; Kafka's documentation describes it.",
    )
