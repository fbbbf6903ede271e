"""LogSource: what it is called and how it is configured."""

from __future__ import annotations

import re
from fnmatch import translate
from functools import cached_property

from copycat_connect.config import (
    HIGH,
    LIST,
    LONG,
    LOW,
    MEDIUM,
    STRING,
    all_of,
    at_least,
    between,
    file_name,
    line_encoding,
    matches_java_regex,
    non_empty,
    non_empty_list,
    topic_name,
)
from copycat_connect.config.parsing import invalid_value
from copycat_connect.config.setting import ConfigSetting
from copycat_connect.config.settings import Settings, key
from copycat_connect.config.user_pattern import UserPattern, compile_user_pattern

from copycat_plugins.connectors.log_source.fields import (
    FIELD_TYPES,
    LINE_REGEX,
    LINE_REGEX_MAX,
    LINE_REGEX_TYPES,
    LineFields,
)

CLASS_NAME = "copycat_plugins.connectors.log_source.connector.LogSourceConnector"
TASK_CLASS_NAME = "copycat_plugins.connectors.log_source.task.LogSourceTask"

INCLUDE, EXCLUDE, ROTATED_NAMES = "files.include.regex", "files.exclude.regex", "rotated.names.regex"
RECORD_START = "record.start.regex"
SHARE = "share"
"""A task's key: which of how many shares of the logs is its own, such as 0/4."""
SUMMARY = (
    "Follows log files, thousands if need be, through every rotation: each line, or record of several lines."
)
GUARANTEES = (
    "At least once, in the order of each log; also exactly or at most once (delivery.guarantee). The source "
    "partition is {filename}, the name that is written to, with all files rotation makes of it. The source "
    "offset is {position}, the bytes before the next record, with what its file is recognised by: inode, "
    "modified, head.bytes, head, tail. A file that was renamed, copied or compressed, also while nothing "
    "ran, is finished first. A last line without an end waits for one until its file is finished. What was "
    "deleted before it was read is lost, with a warning; so is what a program writes between the copy and "
    "the truncation of copytruncate."
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


def _absolute(name: str, value: ConfigSetting) -> None:
    for each in value if isinstance(value, list) else []:
        if not str(each).startswith("/"):
            raise invalid_value(name, each, "it must be an absolute path, beginning with /")
        file_name(name, each)


def _compiled(pairs: list[str]) -> tuple[tuple[re.Pattern[str], str], ...]:
    divided = (each.rpartition(":") for each in pairs)
    return tuple((re.compile(translate(pattern)), topic) for pattern, _, topic in divided)


def _record_start(expression: str) -> UserPattern | None:
    return compile_user_pattern(RECORD_START, expression) if expression else None


def _not_utf8(encoding: str) -> str:
    """Return an encoding, and nothing for UTF-8, whose bytes are left as they are."""
    return "" if encoding.lower() in {"utf-8", "utf8"} else encoding


def _seconds(millis: int) -> float:
    return millis / 1000


class LogSourceSettings(Settings):
    """Which files are read, and what records are made of their lines."""

    files: tuple[str, ...] = key(
        HIGH,
        check=all_of((non_empty_list, _absolute)),
        doc="What to read: files, directories (the files in them), and patterns with *, ?, [..] and ** for "
        "directories at any depth. Files that come later are found, too. Names that begin with a dot are "
        "left out, unless the pattern does.",
    )
    files_include_regex: tuple[str, ...] = key(
        MEDIUM,
        name=INCLUDE,
        default=[],
        check=_regexes,
        doc="Regular expressions for whole names (without directories): of what `files` finds, read these.",
    )
    files_exclude_regex: tuple[str, ...] = key(
        MEDIUM,
        name=EXCLUDE,
        default=[],
        check=_regexes,
        doc="Regular expressions for whole names (without directories) that are left out.",
    )
    topic: str = key(
        HIGH,
        check=all_of((non_empty, topic_name)),
        doc="Topic that receives the records.",
    )
    topics: tuple[tuple[re.Pattern[str], str], ...] = key(
        MEDIUM,
        name="topic.by.file",
        type=LIST,
        default=[],
        check=_pairs,
        read=_compiled,
        doc="Topics of some logs, as pattern:topic; the first pattern that fits the path of the log counts, "
        "and * stands for any text. E.g. */nginx/*:web,*/auth.log:logins.",
    )
    line_regex: str | None = key(
        HIGH,
        name=LINE_REGEX,
        default=None,
        check=_named_groups,
        doc="Regular expression (Java's syntax) for a whole record; its named groups become the fields of a "
        "struct. A record that it does not match is reported as a failed one: errors.tolerance, "
        "errors.log.enable and errors.deadletterqueue.topic.name say what becomes of it. Without it the "
        "value is the line, a string. Write it so that it cannot match in many ways, e.g. no (\\S+\\s*)+: "
        "a match that takes longer than a second is an error.",
    )
    line_regex_types: tuple[str, ...] = key(
        MEDIUM,
        name=LINE_REGEX_TYPES,
        default=[],
        check=_types,
        doc="Types of some groups, as group:type; the others are strings. All are optional: a group that did "
        "not take part, and an empty text or - where a number is wanted, are null. Types: "
        f"{', '.join(FIELD_TYPES)}.",
    )
    line_regex_max_chars: int = key(
        LOW,
        name=LINE_REGEX_MAX,
        default=16384,
        check=at_least(1),
        doc="Records of more characters are not matched with line.regex, but reported as failed ones.",
    )
    record_start: UserPattern | None = key(
        MEDIUM,
        name=RECORD_START,
        type=STRING,
        default=None,
        check=_optional_regex,
        read=_record_start,
        doc="Regular expression for how the first line of a record begins, such as \\d{4}-\\d\\d-\\d\\d; the "
        "lines up to the next such line belong to it, e.g. a stack trace. Without it each line is a record.",
    )
    record_max_lines: int = key(
        LOW,
        default=500,
        check=at_least(1),
        doc="The most lines of a record.",
    )
    record_seconds: float = key(
        LOW,
        name="record.timeout.ms",
        type=LONG,
        default=2000,
        check=at_least(0),
        read=_seconds,
        doc="A record of several lines is complete when its file has not grown for so many milliseconds.",
    )
    record_max_bytes: int = key(
        MEDIUM,
        default=1000000,
        check=between(64, 1 << 28),
        doc="The most bytes of a record; a longer line becomes several records.",
    )
    batch_max_bytes: int = key(
        LOW,
        default=1 << 20,
        check=between(1, 1 << 28),
        doc="How many bytes are read at once, of all files together. A task's memory is a few times this, or "
        "record.max.bytes where that is more, however many files there are.",
    )
    encoding: str = key(
        MEDIUM,
        name="file.encoding",
        default="UTF-8",
        check=line_encoding,
        read=_not_utf8,
        doc="Character encoding of the files; characters that are malformed are replaced.",
    )
    headers: bool = key(
        LOW,
        name="file.headers.enable",
        default=False,
        doc="Whether records have the headers file.path, of the log, and file.offset, the bytes before them.",
    )
    rotated_names_regex: str = key(
        MEDIUM,
        name=ROTATED_NAMES,
        check=_grouped,
        default=r"(.+?)(?:\.\d{1,3}|[.-]\d{4}-?\d\d-?\d\d(?:[-_.T]?\d{1,6})*)+",
        doc="Regular expression for the names that rotation gives to files, without .gz or .zst; its groups "
        "together are the name of the log. By default app.log.1, app.log-20261123 and app.log.2026-11-23.gz "
        "are of app.log. For app-2026-11-23.log: (.+)-\\d{4}-\\d\\d-\\d\\d(\\.log).",
    )
    rotated_seconds: float = key(
        LOW,
        name="rotated.wait.ms",
        type=LONG,
        default=2000,
        check=at_least(0),
        read=_seconds,
        doc="A file that was renamed is finished when nothing was written to it for so many milliseconds.",
    )
    scan_seconds: float = key(
        MEDIUM,
        name="scan.interval.ms",
        type=LONG,
        default=1000,
        check=at_least(10),
        read=_seconds,
        doc="Milliseconds between two looks for files that are new, longer or gone; more where a look takes "
        "long, so that looking takes no more than a twentieth of the time.",
    )
    open_files_max: int = key(
        LOW,
        default=64,
        check=at_least(1),
        doc="The most files a task holds open: those that grew last. Others are opened while they are read.",
    )
    rate: int = key(
        MEDIUM,
        name="bytes.per.second.max",
        type=LONG,
        default=-1,
        check=at_least(-1),
        doc="The most bytes that a task reads in a second; -1 has no limit.",
    )

    def __post_init__(self) -> None:
        """Refuse, as a wrong value, a type of a group that the expression does not have."""
        _ = self.fields

    @cached_property
    def fields(self) -> LineFields | None:
        """Makes structs of records; None where each is a string."""
        if not self.line_regex:
            return None
        return LineFields(self.line_regex, self.line_regex_types, self.line_regex_max_chars)

    def topic_of(self, log: str) -> str:
        """Return the topic of a log."""
        return next((topic for pattern, topic in self.topics if pattern.match(log)), self.topic)


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
