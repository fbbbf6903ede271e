"""Configuration: keys, definitions, validation."""

from copycat_connect.config.definition import ConfigDef
from copycat_connect.config.key import NO_DEFAULT, ConfigKey, Importance, Recommender, Validator, Width
from copycat_connect.config.setting import ConfigValue, Password, Type
from copycat_connect.config.user_pattern import matches_java_regex
from copycat_connect.config.validators import (
    all_of,
    at_least,
    at_most,
    between,
    distinct_names,
    file_name,
    line_encoding,
    non_empty,
    non_empty_list,
    non_null,
    one_of,
    one_of_ignoring_case,
    topic_name,
    topic_prefix,
)

BOOLEAN = Type.BOOLEAN
STRING = Type.STRING
INT = Type.INT
SHORT = Type.SHORT
LONG = Type.LONG
DOUBLE = Type.DOUBLE
LIST = Type.LIST
CLASS = Type.CLASS
PASSWORD = Type.PASSWORD
HIGH = Importance.HIGH
MEDIUM = Importance.MEDIUM
LOW = Importance.LOW

__all__ = [
    "BOOLEAN",
    "CLASS",
    "DOUBLE",
    "HIGH",
    "INT",
    "LIST",
    "LONG",
    "LOW",
    "MEDIUM",
    "NO_DEFAULT",
    "PASSWORD",
    "SHORT",
    "STRING",
    "ConfigDef",
    "ConfigKey",
    "ConfigValue",
    "Importance",
    "Password",
    "Recommender",
    "Type",
    "Validator",
    "Width",
    "all_of",
    "at_least",
    "at_most",
    "between",
    "distinct_names",
    "file_name",
    "line_encoding",
    "matches_java_regex",
    "non_empty",
    "non_empty_list",
    "non_null",
    "one_of",
    "one_of_ignoring_case",
    "topic_name",
    "topic_prefix",
]
