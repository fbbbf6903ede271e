"""The keys every connector has, source or sink.

Texts are ours; names, types, defaults, groups and places are those of Kafka Connect 4.4.
"""

from __future__ import annotations

from copycat_connect.config.definition import ConfigDef
from copycat_connect.config.framework_names import (
    COMMON_GROUP,
    CONFIG_RELOAD,
    CONNECTOR_CLASS,
    CONNECTOR_VERSION,
    ERRORS_GROUP,
    HEADER_CONVERTER,
    KEY_CONVERTER,
    LOG_ERRORS,
    LOG_MESSAGES,
    NAME,
    PLUGIN_VERSION_SUFFIX,
    PREDICATES,
    PREDICATES_GROUP,
    RETRY_MAX_DELAY,
    RETRY_TIMEOUT,
    TASKS_MAX,
    TASKS_MAX_ENFORCE,
    TOLERANCE,
    TRANSFORMS,
    TRANSFORMS_GROUP,
    VALUE_CONVERTER,
)
from copycat_connect.config.key import ConfigKey, Importance, Validator, Width
from copycat_connect.config.setting import Type
from copycat_connect.config.validators import (
    all_of,
    at_least,
    at_most_entries,
    non_null,
    one_of,
    unique_aliases,
    usable_name,
)

_HIGH, _MEDIUM, _LOW = Importance.HIGH, Importance.MEDIUM, Importance.LOW
MAX_ALIASES = 1_000
"""Transformations, predicates or topic creation groups of a connector: each brings keys of its own."""
ALIASES = all_of((non_null, at_most_entries(MAX_ALIASES), unique_aliases))
"""Accepts lists of aliases."""


def _converter(name: str, title: str, order: int) -> tuple[ConfigKey, ConfigKey]:
    what = title.lower()
    return (
        ConfigKey(
            name,
            Type.CLASS,
            _LOW,
            default=None,
            doc=f"The {what} of this connector, a class name or alias; by default the worker's.",
            group=COMMON_GROUP,
            order=order,
            width=Width.SHORT,
            display_name=f"{title} class",
        ),
        ConfigKey(
            name + PLUGIN_VERSION_SUFFIX,
            Type.STRING,
            _LOW,
            default=None,
            doc=f"Version of the {what}; by default the newest that is installed.",
            group=COMMON_GROUP,
            order=order + 1,
            width=Width.SHORT,
            display_name=f"{title} version",
        ),
    )


_IDENTITY = (
    ConfigKey(
        NAME,
        Type.STRING,
        _HIGH,
        validator=usable_name,
        doc="Name of the connector, unique in this cluster.",
        group=COMMON_GROUP,
        order=1,
        width=Width.MEDIUM,
        display_name="Connector name",
    ),
    ConfigKey(
        CONNECTOR_CLASS,
        Type.STRING,
        _HIGH,
        doc="The connector plugin: a class name, or an alias such as FileStreamSink.",
        group=COMMON_GROUP,
        order=2,
        width=Width.LONG,
        display_name="Connector class",
    ),
    ConfigKey(
        CONNECTOR_VERSION,
        Type.STRING,
        _MEDIUM,
        default=None,
        doc="Version of the connector plugin; by default the newest that is installed.",
        group=COMMON_GROUP,
        order=3,
        width=Width.MEDIUM,
        display_name="Connector version",
    ),
    ConfigKey(
        TASKS_MAX,
        Type.INT,
        _HIGH,
        default=1,
        validator=at_least(1),
        doc="The most tasks the connector may have.",
        group=COMMON_GROUP,
        order=4,
        width=Width.SHORT,
        display_name="Tasks max",
    ),
    ConfigKey(
        TASKS_MAX_ENFORCE,
        Type.BOOLEAN,
        _LOW,
        default=True,
        doc="Deprecated. False lets a connector that ignores tasks.max run more tasks than that.",
        group=COMMON_GROUP,
        order=5,
        width=Width.SHORT,
        display_name="Enforce tasks max",
    ),
)
_PROCESSING = (
    ConfigKey(
        TRANSFORMS,
        Type.LIST,
        _LOW,
        default="",
        validator=ALIASES,
        doc="Aliases of the transformations, in the order they are applied to each record.",
        group=TRANSFORMS_GROUP,
        order=12,
        width=Width.LONG,
        display_name="Transforms",
    ),
    ConfigKey(
        PREDICATES,
        Type.LIST,
        _LOW,
        default="",
        validator=ALIASES,
        doc="Aliases of the predicates that transformations may refer to.",
        group=PREDICATES_GROUP,
        order=13,
        width=Width.LONG,
        display_name="Predicates",
    ),
    ConfigKey(
        CONFIG_RELOAD,
        Type.STRING,
        _LOW,
        default="restart",
        validator=one_of("none", "restart"),
        doc="What happens when a value from a config provider expires: restart the connector, or none.",
        group=COMMON_GROUP,
        order=14,
        width=Width.MEDIUM,
        display_name="Reload Action",
    ),
)


def error_key(
    name: str,
    type: Type,
    default: object,
    *,
    order: int,
    title: str,
    doc: str,
    width: Width = Width.MEDIUM,
    validator: Validator | None = None,
) -> ConfigKey:
    """Define one of the keys that say what happens to records that fail."""
    return ConfigKey(
        name,
        type,
        _MEDIUM,
        default=default,
        validator=validator,
        doc=doc,
        group=ERRORS_GROUP,
        order=order,
        width=width,
        display_name=title,
    )


_ERRORS = (
    error_key(
        RETRY_TIMEOUT,
        Type.LONG,
        0,
        order=1,
        title="Retry Timeout for Errors",
        doc="Milliseconds for which an operation that failed is tried again; 0 for never, -1 for ever.",
    ),
    error_key(
        RETRY_MAX_DELAY,
        Type.LONG,
        60000,
        order=2,
        title="Maximum Delay Between Retries for Errors",
        doc="The longest wait between two tries, in milliseconds; up to there it doubles.",
    ),
    error_key(
        TOLERANCE,
        Type.STRING,
        "none",
        order=3,
        title="Error Tolerance",
        doc="none: a bad record fails the task. all: it is skipped, after it was reported.",
        validator=one_of("none", "all"),
        width=Width.SHORT,
    ),
    error_key(
        LOG_ERRORS,
        Type.BOOLEAN,
        False,
        order=4,
        title="Log Errors",
        doc="Log every error with the stage it happened in.",
        width=Width.SHORT,
    ),
    error_key(
        LOG_MESSAGES,
        Type.BOOLEAN,
        False,
        order=5,
        title="Log Error Details",
        doc="Log the record with the error; for a source its whole contents.",
        width=Width.SHORT,
    ),
)
CONNECTOR = ConfigDef(
    *_IDENTITY,
    *_converter(KEY_CONVERTER, "Key converter", 6),
    *_converter(VALUE_CONVERTER, "Value converter", 8),
    *_converter(HEADER_CONVERTER, "Header converter", 10),
    *_PROCESSING,
    *_ERRORS,
)
"""What every connector has."""
