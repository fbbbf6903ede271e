"""Failures as text."""

from copycat_connect.errors import ConnectError, DataError
from copycat_executor.pipeline.records.trace import class_name, trace_text


def raised(error: Exception, cause: Exception | None = None) -> Exception:
    try:
        raise error from cause
    except type(error) as caught:
        return caught


def test_the_first_line_is_connects_class_and_the_message() -> None:
    lines = trace_text(raised(DataError("no number"))).splitlines()

    assert lines[0] == "org.apache.kafka.connect.errors.DataException: no number"
    assert lines[1].startswith("\tat raised(")


def test_causes_follow() -> None:
    text = trace_text(raised(ConnectError("outer"), raised(ValueError("inner"))))

    assert text.startswith("org.apache.kafka.connect.errors.ConnectException: outer\n\tat ")
    assert "\nCaused by: ValueError: inner\n\tat " in text


def test_an_error_without_message_is_its_class() -> None:
    assert trace_text(KeyError()) == "KeyError\n"


def test_author_classes_keep_their_names() -> None:
    class OwnError(ConnectError):
        pass

    assert class_name(OwnError("x")).endswith("OwnError")
