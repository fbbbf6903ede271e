"""Whose code runs in a process of connectors, so that its end can be laid at somebody's door.

An author is a connector by its name or, in a question about a configuration, also its class: whoever sends
the same hostile configuration under ever new names is known by that.
"""

from __future__ import annotations

from hashlib import blake2s
from typing import Final

from copycat_connect.config.framework_names import CONNECTOR_CLASS, NAME

from copycat_executor.pipes.connector_messages import AnyConfigQuestion, DescribeKeys, QuestionCall
from copycat_executor.pipes.messages import T

_TAG_BYTES: Final = 6
#: What every tag begins with.
TAG_MARK: Final = "@"


def connector_author(name: str) -> str:
    """Return a connector as an author."""
    return f"connector {name}"


def authors_of(call: QuestionCall[T]) -> tuple[str, ...]:
    """Return whose code answers a question; nobody's where only what is installed is listed."""
    if isinstance(call, DescribeKeys):
        return (f"class {call.plugin}",)
    if not isinstance(call, AnyConfigQuestion):
        return ()
    name, class_name = call.config.get(NAME), call.config.get(CONNECTOR_CLASS)
    found = (connector_author(name) if name else "", f"class {class_name}" if class_name else "")
    return tuple(author for author in found if author)


def tag_of(author: str) -> str:
    """Return what the author's threads are called in the kernel, in the 15 bytes that there are for it.

    Threads that such a thread starts inherit it, those of C libraries too.
    """
    return f"{TAG_MARK}{blake2s(author.encode(errors='surrogatepass'), digest_size=_TAG_BYTES).hexdigest()}"
