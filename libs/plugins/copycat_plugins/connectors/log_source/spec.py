"""LogSource: what it is called and how it is configured."""

from __future__ import annotations

import codecs

from copycat_connect.config import (
    BOOLEAN,
    HIGH,
    INT,
    LIST,
    LONG,
    LOW,
    MEDIUM,
    STRING,
    ConfigDef,
    ConfigKey,
    all_of,
    at_least,
    between,
    file_name,
    matches_java_regex,
    non_empty,
    non_empty_list,
    topic_name,
)
from copycat_connect.config.parsing import invalid_value
from copycat_connect.config.setting import ConfigSetting
from copycat_connect.config.user_pattern import compile_user_pattern

from copycat_plugins.connectors.log_source.field_types import FIELD_TYPES

CLASS_NAME = "copycat_plugins.connectors.log_source.connector.LogSourceConnector"
TASK_CLASS_NAME = "copycat_plugins.connectors.log_source.task.LogSourceTask"

FILES, INCLUDE, EXCLUDE = "files", "files.include.regex", "files.exclude.regex"
TOPIC, TOPIC_BY_FILE = "topic", "topic.by.file"
LINE_REGEX, FIELDS, LINE_REGEX_MAX = "line.regex", "line.regex.types", "line.regex.max.chars"
RECORD_START, RECORD_LINES, RECORD_TIMEOUT = "record.start.regex", "record.max.lines", "record.timeout.ms"
RECORD_BYTES, BATCH_BYTES = "record.max.bytes", "batch.max.bytes"
ENCODING, HEADERS = "file.encoding", "file.headers.enable"
ROTATED_NAMES, ROTATED_WAIT = "rotated.names.regex", "rotated.wait.ms"
SCAN_INTERVAL, OPEN_FILES, RATE = "scan.interval.ms", "open.files.max", "bytes.per.second.max"

SHARE = "share"
"""A task's key: which of how many shares of the logs is its own, such as 0/4."""
FILENAME = "filename"
"""The key of a source partition."""
POSITION = "position"
"""The key of a source offset that is always there."""

SUMMARY = (
    "Follows log files, thousands if need be, through every rotation: each line, or record of several lines."
)
GUARANTEES = (
    "At least once, in the order of each log; also exactly or at most once (delivery.guarantee). The source "
    "partition is {filename}: a log by the name that is written to, with all files rotation makes of it. "
    "The source offset is {position}, the bytes before the next record, with what its file is recognised by: "
    "inode, modified, head.bytes, head, tail. A file that was renamed, copied or compressed, also while "
    "nothing ran, is finished at that byte, and the next one begins at 0. A last line without an end waits "
    "for one until its file is finished. What was deleted before it was read is lost, with a warning; so is "
    "what a program writes between the copy and the truncation of copytruncate."
)


def _regexes(name: str, value: ConfigSetting) -> None:
    for each in value if isinstance(value, list) else []:
        matches_java_regex(name, each)


def _optional_regex(name: str, value: ConfigSetting) -> None:
    if value:
        matches_java_regex(name, value)


def _named_groups(name: str, value: ConfigSetting) -> None:
    _optional_regex(name, value)
    if value and not compile_user_pattern(name, str(value)).groupindex:
        raise invalid_value(name, value, "it has no named group, such as (?<host>\\S+)")


def _grouped(name: str, value: ConfigSetting) -> None:
    matches_java_regex(name, value)
    if value and not compile_user_pattern(name, str(value)).groups:
        raise invalid_value(name, value, "it has no group, which is to hold the name of the log")


def _pairs(name: str, value: ConfigSetting) -> None:
    for each in value if isinstance(value, list) else []:
        pattern, _, topic = str(each).rpartition(":")
        if not pattern or not topic:
            raise invalid_value(name, each, "it must be a pattern and a topic, such as *access*:access-log")
        topic_name(name, topic)


def _types(name: str, value: ConfigSetting) -> None:
    for each in value if isinstance(value, list) else []:
        if str(each).rpartition(":")[2] not in FIELD_TYPES or ":" not in str(each):
            reason = f"it must be a group and its type, such as status:int32; types: {', '.join(FIELD_TYPES)}"
            raise invalid_value(name, each, reason)


def _encoding(name: str, value: ConfigSetting) -> None:
    try:
        ended = "\n\r".encode(codecs.lookup(str(value)).name)
    except (LookupError, UnicodeError) as error:
        raise invalid_value(name, value, "there is no such character encoding") from error
    if ended != b"\n\r":
        raise invalid_value(
            name, value, "its line ends are no single bytes; UTF-8, ISO-8859-1 and the like are"
        )


def _absolute(name: str, value: ConfigSetting) -> None:
    for each in value if isinstance(value, list) else []:
        if not str(each).startswith("/"):
            raise invalid_value(name, each, "it must be an absolute path, beginning with /")
        file_name(name, each)


CONFIG = ConfigDef(
    ConfigKey(
        FILES,
        LIST,
        HIGH,
        validator=all_of((non_empty_list, _absolute)),
        doc="What to read: files, directories (the files in them), and patterns with *, ?, [..] and ** for "
        "directories at any depth. Files that come later are found, too. Names that begin with a dot are "
        "left out, unless the pattern does.",
    ),
    ConfigKey(
        INCLUDE,
        LIST,
        MEDIUM,
        default=[],
        validator=_regexes,
        doc="Regular expressions for whole names (without directories): of what `files` finds, read these.",
    ),
    ConfigKey(
        EXCLUDE,
        LIST,
        MEDIUM,
        default=[],
        validator=_regexes,
        doc="Regular expressions for whole names (without directories) that are left out.",
    ),
    ConfigKey(
        TOPIC, STRING, HIGH, validator=all_of((non_empty, topic_name)), doc="Topic that receives the records."
    ),
    ConfigKey(
        TOPIC_BY_FILE,
        LIST,
        MEDIUM,
        default=[],
        validator=_pairs,
        doc="Topics of some logs, as pattern:topic; the first pattern that fits the path of the log counts, "
        "and * stands for any text. E.g. */nginx/*:web,*/auth.log:logins.",
    ),
    ConfigKey(
        LINE_REGEX,
        STRING,
        HIGH,
        default=None,
        validator=_named_groups,
        doc="Regular expression (Java's syntax) for a whole record; its named groups become the fields of a "
        "struct. A record that it does not match is reported as a failed one: errors.tolerance, "
        "errors.log.enable and errors.deadletterqueue.topic.name say what becomes of it. Without it the "
        "value is the line, a string. Write it so that it cannot match in many ways, e.g. no (\\S+\\s*)+: "
        "there is no limit on the time one match takes, only on the length of what is matched.",
    ),
    ConfigKey(
        FIELDS,
        LIST,
        MEDIUM,
        default=[],
        validator=_types,
        doc="Types of some groups, as group:type; the others are strings. All are optional: a group that did "
        "not take part, and an empty text or - where a number is wanted, are null. Types: "
        f"{', '.join(FIELD_TYPES)}.",
    ),
    ConfigKey(
        LINE_REGEX_MAX,
        INT,
        LOW,
        default=16384,
        validator=at_least(1),
        doc="Records of more characters are not matched with line.regex, but reported as failed ones.",
    ),
    ConfigKey(
        RECORD_START,
        STRING,
        MEDIUM,
        default=None,
        validator=_optional_regex,
        doc="Regular expression for how the first line of a record begins, such as \\d{4}-\\d\\d-\\d\\d; the "
        "lines up to the next such line belong to it, e.g. a stack trace. Without it each line is a record.",
    ),
    ConfigKey(RECORD_LINES, INT, LOW, default=500, validator=at_least(1), doc="The most lines of a record."),
    ConfigKey(
        RECORD_TIMEOUT,
        LONG,
        LOW,
        default=2000,
        validator=at_least(0),
        doc="A record of several lines is complete when its file has not grown for so many milliseconds.",
    ),
    ConfigKey(
        RECORD_BYTES,
        INT,
        MEDIUM,
        default=1000000,
        validator=between(64, 1 << 28),
        doc="The most bytes of a record; a longer line becomes several records.",
    ),
    ConfigKey(
        BATCH_BYTES,
        INT,
        LOW,
        default=1 << 20,
        validator=between(1, 1 << 28),
        doc="How many bytes are read at once, of all files together. A task's memory is a few times this, or "
        "record.max.bytes where that is more, however many files there are.",
    ),
    ConfigKey(
        ENCODING,
        STRING,
        MEDIUM,
        default="UTF-8",
        validator=_encoding,
        doc="Character encoding of the files; characters that are malformed are replaced.",
    ),
    ConfigKey(
        HEADERS,
        BOOLEAN,
        LOW,
        default=False,
        doc="Whether records have the headers file.path, of the log, and file.offset, the bytes before them.",
    ),
    ConfigKey(
        ROTATED_NAMES,
        STRING,
        MEDIUM,
        validator=_grouped,
        default=r"(.+?)(?:\.\d{1,3}|[.-]\d{4}-?\d\d-?\d\d(?:[-_.T]?\d{1,6})*)+",
        doc="Regular expression for the names that rotation gives to files, without .gz or .zst; its groups "
        "together are the name of the log. By default app.log.1, app.log-20261123 and app.log.2026-11-23.gz "
        "are of app.log. For app-2026-11-23.log: (.+)-\\d{4}-\\d\\d-\\d\\d(\\.log).",
    ),
    ConfigKey(
        ROTATED_WAIT,
        LONG,
        LOW,
        default=2000,
        validator=at_least(0),
        doc="A file that was renamed is finished when nothing was written to it for so many milliseconds.",
    ),
    ConfigKey(
        SCAN_INTERVAL,
        LONG,
        MEDIUM,
        default=1000,
        validator=at_least(10),
        doc="Milliseconds between two looks for files that are new, longer or gone; more where a look takes "
        "long, so that looking takes no more than a twentieth of the time.",
    ),
    ConfigKey(
        OPEN_FILES,
        INT,
        LOW,
        default=64,
        validator=at_least(1),
        doc="The most files a task holds open: those that grew last. Others are opened while they are read.",
    ),
    ConfigKey(
        RATE,
        LONG,
        MEDIUM,
        default=-1,
        validator=at_least(-1),
        doc="The most bytes that a task reads in a second; -1 has no limit.",
    ),
)
EXAMPLES = {
    "All logs of a machine, each line a record": {
        "files": "/var/log/*.log,/var/log/nginx/",
        "topic": "logs",
        "topic.by.file": "*/nginx/*:web",
        "file.headers.enable": "true",
    },
    "An access log, its fields as a struct, other lines to a dead letter queue": {
        "files": "/var/log/nginx/access.log",
        "topic": "access",
        "line.regex": r'(?<host>\S+) \S+ (?<user>\S+) \[(?<time>[^\]]+)\] "(?<request>[^"]*)" '
        r"(?<status>\d{3}) (?<bytes>\d+|-)",
        "line.regex.types": "status:int32,bytes:int64",
        "errors.tolerance": "all",
        "errors.deadletterqueue.topic.name": "access-unreadable",
        "errors.deadletterqueue.topic.replication.factor": "1",
    },
    "Records of several lines, with the archives that are still there": {
        "files": "/srv/app/server.log*",
        "topic": "server",
        "record.start.regex": r"\d{4}-\d\d-\d\d ",
    },
}
