"""Server errors that are Kafka Connect's own answers, each with its reason; any other one is a fault."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

BODY: Final = (
    r"POST /connectors|(PUT|PATCH) /connectors/\{name\}/config|PATCH /connectors/\{name\}/offsets"
    r"|PUT /connector-plugins/\{plugin\}/config/validate|PUT /admin/loggers/\{logger\}"
)


@dataclass(frozen=True, slots=True)
class Excuse:
    """A cause of 500 that clients of Kafka Connect know."""

    reason: str
    operations: str
    """A regular expression that the operation, `METHOD path`, matches as a whole."""
    text: str
    """A regular expression that the message begins with."""

    def covers(self, operation: str, status: int, message: str) -> bool:
        """Return whether this is the cause."""
        known = re.fullmatch(self.operations, operation) and re.match(self.text, message)
        return status == 500 and known is not None


EXCUSES: Final = (
    Excuse(
        "Kafka Connect answers 500, not 400, to a body that its JSON library cannot read as what is wanted.",
        BODY,
        r"The request has no body|The request body is (not valid JSON|not UTF-8 text|nested too deeply)"
        r"|Cannot (deserialize value|construct instance) of|Unrecognized field ",
    ),
    Excuse(
        "Kafka Connect does not unwrap its own refusal of the connector class where it validates.",
        r"PUT /connector-plugins/\{plugin\}/config/validate",
        r"org\.apache\.kafka\.connect\.runtime\.rest\.errors\.BadRequestException: "
        r"(Connector config contains no connector type|Failed to find any class that implements)",
    ),
    Excuse(
        "A connector that refuses a change of its offsets fails in Kafka Connect; so does our file source.",
        r"(PATCH|DELETE) /connectors/\{name\}/offsets",
        r"Offset objects should either be null or contain the key 'position'"
        r"|The value for the 'position' key in the offset (is expected to be|should be) "
        r"|Partition objects should contain the key 'filename'"
        r"|Offsets cannot be modified if the 'file' configuration is unspecified",
    ),
)


def excused(operation: str, status: int, message: str) -> bool:
    """Return whether an answer is one of Kafka Connect's own server errors."""
    return any(excuse.covers(operation, status, message) for excuse in EXCUSES)
