"""Checks of one part of a configuration: transformations, a converter, a sink's topics, clients, own keys."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping, Sequence
from dataclasses import replace
from enum import Enum
from functools import cache
from importlib.resources import files
from typing import Final, NoReturn

from copycat_connect.cluster import GROUP_OVERRIDE, Config, sink_group
from copycat_connect.config.definition import ConfigDef
from copycat_connect.config.framework import SINK_CONNECTOR, SOURCE_CONNECTOR, SOURCE_WITH_DEAD_LETTERS
from copycat_connect.config.framework_names import (
    CONNECTOR_VERSION,
    DLQ_TOPIC,
    NAME,
    PLUGIN_VERSION_SUFFIX,
    TOPICS,
    TOPICS_REGEX,
    TRANSFORMS,
)
from copycat_connect.config.key import NO_DEFAULT, ConfigKey, Importance
from copycat_connect.config.parsing import parse_type, setting_text
from copycat_connect.config.setting import ConfigValue, Type
from copycat_connect.config.user_pattern import PatternTooSlowError, compile_user_pattern
from copycat_connect.error_text import said_by
from copycat_connect.errors import ConfigError
from copycat_connect.plugin.contexts import TransformationContext
from copycat_connect.plugin.converters import CONVERTER_TYPE
from copycat_connect.plugin.errors import InvalidVersionRangeError, NoSuchVersionError
from copycat_connect.plugin.loading import reason_of
from copycat_connect.plugin.registry import Plugins
from copycat_connect.plugin.spec import PluginKind, PluginSpec
from copycat_connect.plugin.transformations import Transformation
from copycat_connect.validation.infos import ConfigInfos, prefixed_infos

NO_QUERIES: Final = (
    "Spark reads the records of this connector, in partitions that have no query engine: leave this "
    "transformation out, or read with another connector"
)
Found = MutableMapping[str, ConfigValue]
_DEFAULTS = {r"\N": NO_DEFAULT, r"\0": None}


class NoQueries:
    """Refuses queries where Spark reads the records; a `QueryEngine`, and the context that has it."""

    @property
    def queries(self) -> NoQueries:
        """This object, whose `prepare` and `run` refuse."""
        return self

    def prepare(self, sql: str, columns: str) -> NoReturn:
        """Refuse.

        Raises:
            ConfigError: Always.
        """
        del sql, columns
        raise ConfigError(NO_QUERIES)

    def run(self, sql: str, columns: str, batch: bytes) -> NoReturn:
        """Refuse; raises as `prepare` does."""
        del batch
        self.prepare(sql, columns)


def check_transformations(
    raw: Config, found: MutableMapping[str, ConfigValue], plugins: Plugins, context: TransformationContext
) -> None:
    """Add the errors that transformations find to what was found about their keys."""
    aliases = found[TRANSFORMS].value
    checked, given = sorted(found), sorted(raw)
    for alias in dict.fromkeys(aliases if isinstance(aliases, list) else ()):
        prefix = f"{TRANSFORMS}.{alias}."
        spec = plugins.get((raw.get(f"{prefix}type") or "").strip(), (PluginKind.TRANSFORMATION,))
        if spec is None or any(found[name].errors for name in _under(prefix, checked)):
            continue
        settings = {key.removeprefix(prefix): raw[key] for key in _under(prefix, given)}
        try:
            transformation: Transformation = spec.make()
        except BaseException as error:  # the top of a call into a plugin: whatever it raises is its answer
            found[f"{prefix}type"].errors.append(
                f"Failed to load class {spec.class_name}: {reason_of(error)}"
            )
            continue
        transformation.initialize(context)
        for value in transformation.validate(settings):
            found[prefix + value.name].errors.extend(value.errors)


def _under(prefix: str, names: Sequence[str]) -> Iterator[str]:
    """Yield the names that begin with a prefix; they are sorted, so that no alias looks at all names."""
    for place in range(bisect_left(names, prefix), len(names)):
        if not names[place].startswith(prefix):
            return
        yield names[place]


def validate_converter(
    raw: Config,
    found: Mapping[str, ConfigValue],
    key: str,
    plugins: Plugins,
    report_stage: Callable[[str], None],
) -> ConfigInfos | None:
    """Check the settings of one converter.

    Args:
        raw: The connector's configuration.
        found: What was found about the framework's keys; a problem with the converter is added there.
        key: `key.converter`, `value.converter` or `header.converter`.
        plugins: What is installed.
        report_stage: Told what is being done, before it is.

    Returns:
        The converter's keys with their prefix; None when the connector brings none, or a bad one.
    """
    class_name = raw.get(key)
    if class_name is None or found[key].errors:
        return None
    role = key.partition(".")[0]
    noun = f"{role} converter"
    kind = PluginKind.HEADER_CONVERTER if role == "header" else PluginKind.CONVERTER
    spec = plugins.find(class_name.strip(), (kind,))
    try:
        plugins.check_version(spec, raw.get(f"{key}{PLUGIN_VERSION_SUFFIX}"))
    except NoSuchVersionError as error:
        found[key].errors.append(error.message)
        return None
    except InvalidVersionRangeError:
        return None  # the version's own key says so
    report_stage(f"instantiating the connector's {noun} for validation")
    try:
        spec.make()
    except BaseException as error:  # the top of a call into a plugin: whatever it raises is its answer
        said = said_by(error)
        reason = f": {said}" if said else ""
        found[key].errors.append(f"Failed to load class {class_name}{reason}")
        return None
    report_stage(f"performing config validation for the connector's {noun}")
    prefix = f"{key}."
    settings: dict[str, str | None] = {CONVERTER_TYPE: role}
    settings |= {name.removeprefix(prefix): text for name, text in raw.items() if name.startswith(prefix)}
    return prefixed_infos(prefix, spec.config.keys, spec.config.validate(settings, plugins.class_name))


def dead_letter_topic(raw: Config) -> str:
    """Return the dead letter queue's topic; empty without one."""
    return (raw.get(DLQ_TOPIC) or "").strip()


def check_topics(raw: Config, found: Found) -> None:
    """Add errors to what was found unless one of topics and topics.regex is set, clear of the DLQ."""
    topics, regex = (raw.get(TOPICS) or "").strip(), (raw.get(TOPICS_REGEX) or "").strip()
    if topics and regex:
        text = f"{TOPICS} and {TOPICS_REGEX} are mutually exclusive options, but both are set."
        _add(found, (TOPICS, TOPICS_REGEX), text)
    if not topics and not regex:
        _add(found, (TOPICS, TOPICS_REGEX), f"Must configure one of {TOPICS} or {TOPICS_REGEX}")
    dead_letters = dead_letter_topic(raw)
    if dead_letters and topics:
        names = parse_type(TOPICS, topics, Type.LIST)
        if dead_letters in names:
            text = (
                f"The DLQ topic '{dead_letters}' may not be included in the list of topics "
                f"('{TOPICS}={setting_text(names)}') consumed by the connector"
            )
            _add(found, (TOPICS,), text)
    if dead_letters and regex:
        _check_regex(regex, dead_letters, found)


def check_group(raw: Config, found: Found, worker_group: str) -> None:
    """Add an error to what was found when the consumer group is the one of the Connect workers."""
    if GROUP_OVERRIDE in raw:
        group = raw[GROUP_OVERRIDE]
        value = found.setdefault(GROUP_OVERRIDE, ConfigValue(GROUP_OVERRIDE, group))
        if group == worker_group:
            value.errors.append(f"Consumer group {group} conflicts with Connect worker group {worker_group}")
        return
    name = found[NAME].value
    if sink_group(name) == worker_group:
        who = f"Consumer group for sink connector named {name}"
        found[NAME].errors.append(f"{who} conflicts with Connect worker group {worker_group}")


def _check_regex(regex: str, dead_letters: str, found: Found) -> None:
    try:
        matched = compile_user_pattern(TOPICS_REGEX, regex).fullmatch(dead_letters) is not None
    except re.error:
        return  # the validator of the key says so
    except PatternTooSlowError as error:
        _add(found, (TOPICS_REGEX,), error.message)
        return
    if matched:
        text = (
            f"The DLQ topic '{dead_letters}' may not be matched by the regex for the topics "
            f"('{TOPICS_REGEX}={regex}') consumed by the connector"
        )
        _add(found, (TOPICS_REGEX,), text)


def _add(found: Found, names: Iterable[str], text: str) -> None:
    for name in names:
        found[name].errors.append(text)


def plugin_keys(spec: PluginSpec) -> list[ConfigKey]:
    """Return a plugin's own keys, then for a connector the framework's that it does not define itself.

    Of Kafka Connect's sources these are Kafka Connect's, which has dead letter queues for sinks only.
    """
    own = spec.config.keys
    if not spec.kind.is_connector:
        return list(own.values())
    if spec.kind is PluginKind.SINK:
        framework = SINK_CONNECTOR
    else:
        is_kafkas = spec.class_name.startswith("org.apache.kafka.")
        framework = SOURCE_CONNECTOR if is_kafkas else SOURCE_WITH_DEAD_LETTERS
    shared = {**framework.keys, CONNECTOR_VERSION: _version_key(framework.keys[CONNECTOR_VERSION], spec)}
    return [*own.values(), *(key for name, key in shared.items() if name not in own)]


def _version_key(key: ConfigKey, spec: PluginSpec) -> ConfigKey:
    return replace(key, default=spec.version)


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
