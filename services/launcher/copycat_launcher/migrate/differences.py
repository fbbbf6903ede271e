"""What is other here of a connector that runs: each difference with what to do about it.

What differs for every connector alike (`services/gateway/DIFFERENCES.md`) is no finding.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from copycat_cli.advice import similar
from copycat_connect.cluster import Config
from copycat_connect.config.client_overrides import (
    ADMIN_OVERRIDE,
    BOOTSTRAP_SERVERS,
    CONSUMER_OVERRIDE,
    PRODUCER_OVERRIDE,
    under,
)
from copycat_connect.config.framework_names import DLQ_TOPIC, TASKS_MAX
from copycat_connect.errors import CopycatError
from copycat_connect.plugin.spec import PluginKind, PluginSpec
from copycat_connect.validation import ConfigInfos
from copycat_connect.validation.client_settings import Client, client_definition
from copycat_executor.kafka.client_config import ClientConfig, admin_config, consumer_config, producer_config

from copycat_launcher.migrate.findings import Finding, MigrationVerdict
from copycat_launcher.migrate.found import FoundConnector

FILE_SOURCE = "org.apache.kafka.connect.file.FileStreamSourceConnector"
NO_EFFECT = "No effect"
ASSIGNMENT = f"{CONSUMER_OVERRIDE}partition.assignment.strategy"
#: Below these stand settings of others: of clients, converters, transformations, topics.
OF_OTHERS = (
    PRODUCER_OVERRIDE,
    CONSUMER_OVERRIDE,
    ADMIN_OVERRIDE,
    "key.converter.",
    "value.converter.",
    "header.converter.",
    "transforms.",
    "predicates.",
    "topic.creation.",
    # Settings of the clients of mirror connectors, by cluster.
    "source.",
    "target.",
)
MISSPELT_SIMILARITY = 0.8


@dataclass(frozen=True, slots=True)
class Judged:
    """A connector that can be validated, with all that is asked about it."""

    connector: FoundConnector
    spec: PluginSpec
    found: ConfigInfos
    max_tasks: int
    """The worker's `max.tasks.per.connector`."""

    @property
    def config(self) -> Config:
        """As it was written."""
        return self.connector.config


def differences(judged: Judged) -> list[Finding]:
    """Return what differs."""
    return [finding for look in LOOKS for finding in look(judged)]


def _unknown_keys(judged: Judged) -> Iterator[Finding]:
    defined = {info.name for info in judged.found.infos if info.key is not None}
    for key in judged.config:
        if key in defined or key == "name" or key.startswith(OF_OTHERS):
            continue
        close = similar(key, defined - set(judged.config), closeness=MISSPELT_SIMILARITY)
        fix = (
            f"write {close[0]}" if close else "remove it, or read the connector's page for what does the same"
        )
        text = f"{judged.spec.class_name.rpartition('.')[2]} has no such key here, so it has no effect"
        yield Finding(MigrationVerdict.DIFFERS, key, text, fix)


def _keys_without_effect(judged: Judged) -> Iterator[Finding]:
    for info in judged.found.infos:
        if info.key is None or not info.key.doc.startswith(NO_EFFECT):
            continue
        if info.name in judged.config and info.value.value != info.key.default:
            text = f"taken, but without effect here{info.key.doc.removeprefix(NO_EFFECT)}"
            yield Finding(
                MigrationVerdict.DIFFERS, info.name, text.rstrip("."), "see whether you can do without it"
            )


def _file_positions(judged: Judged) -> Iterator[Finding]:
    if judged.spec.class_name == FILE_SOURCE and judged.connector.positions.count != 0:
        yield Finding(
            MigrationVerdict.DIFFERS,
            "file",
            "positions are bytes here and characters there: the same for ASCII, and for a file with other"
            " characters the first start would read some lines again",
            "if the file is not plain ASCII, stop the connector here and set its offset with"
            " `copycat offsets alter`",
        )


def _dead_letters_of_a_source(judged: Judged) -> Iterator[Finding]:
    if judged.spec.kind is PluginKind.SOURCE and (judged.config.get(DLQ_TOPIC) or "").strip():
        text = "a source has a dead letter queue here; Kafka Connect ignores the key on sources"
        yield Finding(
            MigrationVerdict.DIFFERS, DLQ_TOPIC, text, "keep it, or remove it if no such topic is wanted"
        )


def _assignment(judged: Judged) -> Iterator[Finding]:
    if ASSIGNMENT in judged.config:
        text = "the partitions of a sink are divided by Copycat's scheduler, whatever strategy is named"
        yield Finding(MigrationVerdict.DIFFERS, ASSIGNMENT, text, "remove it")


def _many_tasks(judged: Judged) -> Iterator[Finding]:
    wanted = (judged.config.get(TASKS_MAX) or "").strip()
    if wanted.isdecimal() and int(wanted) > judged.max_tasks:
        text = f"a connector has at most {judged.max_tasks} tasks here"
        fix = "raise max.tasks.per.connector in the worker's properties"
        yield Finding(MigrationVerdict.DIFFERS, TASKS_MAX, text, fix)


def _overrides(judged: Judged) -> Iterator[Finding]:
    clients: dict[Client, Callable[[], ClientConfig]] = {
        Client.PRODUCER: lambda: producer_config({}, judged.config, "migrate"),
        Client.CONSUMER: lambda: consumer_config({}, judged.config, "migrate", "migrate"),
        Client.ADMIN: lambda: admin_config({}, judged.config, "migrate"),
    }
    refused = {info.name for info in judged.found.infos if info.value.errors}
    for client, make in clients.items():
        given = under(judged.config, client.value)
        if given:
            yield from (each for each in _client(client, given, make) if each.key not in refused)


def _client(client: Client, given: dict[str, str], make: Callable[[], ClientConfig]) -> Iterator[Finding]:
    prefix = client.value
    try:
        unknown = make().unknown
    except CopycatError as error:
        key = prefix + error.fields.get("key", BOOTSTRAP_SERVERS).removeprefix(prefix)
        yield Finding(
            MigrationVerdict.REFUSED, key, error.message, "change it: the client cannot be made with it"
        )
        return
    known = client_definition(client).keys
    for key in unknown:
        if key not in given:
            continue
        if key in known:
            fix = "use PEM files" if key.startswith("ssl.") else "remove it, or name what does the same"
            text = "the Kafka client here (librdkafka) has no such setting, so it has no effect"
        else:
            close = similar(key, known, closeness=MISSPELT_SIMILARITY)
            fix = f"write {prefix}{close[0]}" if close else "remove it"
            text = "no client of Kafka has such a setting, so it has no effect, there as here"
        yield Finding(MigrationVerdict.DIFFERS, prefix + key, text, fix)


LOOKS: tuple[Callable[[Judged], Iterator[Finding]], ...] = (
    _unknown_keys,
    _keys_without_effect,
    _file_positions,
    _dead_letters_of_a_source,
    _assignment,
    _many_tasks,
    _overrides,
)
