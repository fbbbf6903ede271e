"""The event-sourced services are alike: files, signatures, reads, refusals, log lines, unreadable records."""

from __future__ import annotations

import ast
import inspect
import logging
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import GenericAlias, ModuleType
from typing import Any, get_type_hints

import grpc
import pytest
from copycat.config.v1 import config_service_pb2
from copycat.offset.v1 import offset_service_pb2
from copycat.scheduler.v1 import scheduler_service_pb2
from copycat.status.v1 import status_service_pb2
from copycat_config.adapters.codec import ConfigCodec
from copycat_config.domain.events import TasksFenced
from copycat_connect.config.settings import Settings
from copycat_connect.errors import CopycatError
from copycat_eventlog.handler import EventSourced
from copycat_eventlog.json_text import MalformedError
from copycat_eventlog.log import Codec, Entry, Log, Record
from copycat_eventlog.memory import MemoryLog, MemoryTopic
from copycat_eventlog.unreadable import MAX_BYTES, LogRecordReader, decode
from copycat_eventlog.worker_properties import LogTopic
from copycat_offset.adapters.codec import OffsetCodec
from copycat_rpc.server import RpcServer
from copycat_scheduler.adapters.codec import SchedulerCodec
from copycat_status.adapters.codec import StatusCodec
from google.protobuf.descriptor import MethodDescriptor

ROOT = Path(__file__).parents[3] / "services"
FILES = {
    *("__init__.py", "__main__.py", "main.py", "settings.py", "py.typed"),
    *(f"domain/{name}.py" for name in ("__init__", "commands", "decide", "errors", "events")),
    *(f"domain/{name}.py" for name in ("evolve", "state", "views")),
    *(f"adapters/{name}.py" for name in ("__init__", "codec", "event_sourced", "messages", "server")),
}
#: Reads of what is in no log, so that there is no revision to ask for.
NOT_FROM_A_LOG = {
    "ListSinkOffsets": "positions are in Kafka's consumer groups",
    "DescribeSinkMoves": "positions are in Kafka's consumer groups, records in its topics",
    "ListWorkers": "leases are held by the instance that leads",
    "DescribeKafkaCluster": "asks Kafka's brokers",
}
#: Changes of what is in no log.
NOT_INTO_A_LOG = {
    *("CommitSinkOffsets", "AlterSinkOffsets", "DeleteSinkOffsets"),
    *("RecordAct", "ReportTroubles"),
}
REVISION = "copycat.types.v1.Revision"


@dataclass(frozen=True)
class Service:
    """One of the four."""

    name: str
    contract: Any
    """The module of its messages."""

    def module(self, path: str) -> ModuleType:
        """Return one of its modules."""
        return import_module(f"copycat_{self.name}.{path}")

    @property
    def folder(self) -> Path:
        """Where its modules are."""
        return ROOT / self.name / f"copycat_{self.name}"

    @property
    def files(self) -> set[str]:
        """Its files, relative to its folder."""
        found = (path.relative_to(self.folder) for path in self.folder.rglob("*") if path.is_file())
        return {path.as_posix() for path in found if path.suffix != ".pyc"}

    def type(self, path: str, kind: str) -> Any:
        """Return a type that is called after the service, such as ConfigCommand."""
        return getattr(self.module(path), f"{self.name.capitalize()}{kind}")

    @property
    def calls(self) -> list[MethodDescriptor]:
        """The calls of its contract."""
        service = self.contract.DESCRIPTOR.services_by_name[f"{self.name.capitalize()}Service"]
        return list(service.methods)


SERVICES = [
    Service("config", config_service_pb2),
    Service("offset", offset_service_pb2),
    Service("status", status_service_pb2),
    Service("scheduler", scheduler_service_pb2),
]
each_service = pytest.mark.parametrize("service", SERVICES, ids=lambda service: service.name)


@each_service
def test_a_service_has_the_common_files_and_its_page_names_the_others(service: Service) -> None:
    page = (ROOT / service.name / "README.md").read_text("utf-8")

    assert FILES - service.files == set()
    assert [path for path in service.files - FILES if Path(path).name not in page] == []


@each_service
def test_decide_and_evolve_are_functions_of_the_services_own_types(service: Service) -> None:
    command, event = service.type("domain.commands", "Command"), service.type("domain.events", "Event")
    state = service.type("domain.state", "State")

    assert hints(service.module("domain.decide").decide) == {
        "command": command,
        "state": state,
        "return": GenericAlias(tuple, (event, ...)),
    }
    assert hints(service.module("domain.evolve").evolve) == {"state": state, "event": event, "return": state}


@each_service
def test_views_are_functions_of_the_state(service: Service) -> None:
    state = service.type("domain.state", "State")

    assert [
        name for name, view in functions(service.module("domain.views")) if first(view) == ("state", state)
    ]


@each_service
def test_the_codec_writes_and_reads_events_as_records(service: Service) -> None:
    codec, event = service.type("adapters.codec", "Codec"), service.type("domain.events", "Event")

    assert hints(codec.encode) == {"event": event, "return": Record}
    assert hints(codec.decode) == {"record": Record, "return": event}
    assert isinstance(codec.forgets_unreadable, bool)


@each_service
def test_decision_fold_and_codec_are_put_around_a_log_in_one_place(service: Service) -> None:
    make = service.module("adapters.event_sourced").event_sourced

    events = make(MemoryLog(MemoryTopic()))

    assert hints(make) == {"log": Log, "return": service.type("adapters.event_sourced", "Events")}
    assert isinstance(events, EventSourced)
    assert events.state == service.type("domain.state", "State")()


@each_service
def test_a_service_is_added_to_a_server_by_register(service: Service) -> None:
    server = service.module("adapters.server")
    register = hints(server.register)

    assert list(register)[:2] == ["server", "events"]
    assert register["server"] is RpcServer
    assert register["events"] == service.type("adapters.event_sourced", "Events")
    assert {call.name for call in service.calls} <= set(vars(service.type("adapters.server", "Servicer")))
    assert service.calls[0].containing_service.full_name == server.SERVICE


@each_service
def test_settings_and_main_have_the_same_names(service: Service) -> None:
    settings, main = service.module("settings"), service.module("main")

    assert isinstance(settings.TOPIC, LogTopic)
    made = service.type("settings", "ServiceSettings")
    assert issubclass(made, Settings)
    assert hints(settings.read_settings) == {"properties": Mapping[str, str], "return": made}
    assert list(inspect.signature(main.serve).parameters) == ["properties", "stop", "ready"]
    assert hints(main.main) == {"return": int}


@each_service
def test_every_read_from_a_log_takes_a_least_revision_and_answers_with_its_own(service: Service) -> None:
    reads = [call for call in service.calls if call.name.startswith(("Get", "List", "Read", "Describe"))]
    lacking = [
        call.name
        for call in reads
        if not (revision(call.input_type, "min_revision") and revision(call.output_type, "revision"))
    ]

    assert reads
    assert lacking == [call.name for call in reads if call.name in NOT_FROM_A_LOG]


@each_service
def test_every_write_answers_with_the_revision_that_shows_it(service: Service) -> None:
    reads = ("Get", "List", "Read", "Describe", "Watch")
    writes = [call for call in service.calls if not call.name.startswith((*reads, "Join"))]

    assert [call.name for call in writes if not revision(call.output_type, "revision")] == [
        call.name for call in writes if call.name in NOT_INTO_A_LOG
    ]


@each_service
def test_a_watch_is_resumed_after_a_revision_and_made_of_the_same_three_messages(service: Service) -> None:
    messages = service.module("adapters.messages")
    event, state = service.type("domain.events", "Event"), service.type("domain.state", "State")

    for watch in (call for call in service.calls if call.name.startswith("Watch")):
        assert revision(watch.input_type, "after_revision")
        assert revision(watch.output_type, "revision")
        assert "snapshot_complete" in watch.output_type.fields_by_name
        assert first(messages.snapshot_messages) == ("state", state)
        assert list(hints(messages.change_messages).values())[:2] == [event, state]
        assert list(inspect.signature(messages.snapshot_complete).parameters) == []


@each_service
def test_an_error_has_a_code_and_makes_its_text(service: Service) -> None:
    for name, error in classes(service.module("domain.errors")):
        assert issubclass(error, CopycatError), name
        assert error.code.grpc in grpc.StatusCode.__members__, name
        assert error.code.name != CopycatError.code.name, name
        assert "message" not in inspect.signature(error).parameters or error.__subclasses__(), name


@each_service
def test_refusals_are_errors_of_the_domain(service: Service) -> None:
    own = {name for name, _ in classes(service.module("domain.errors"))}
    rules = [path for path in service.folder.glob("domain/*.py") if path.name != "errors.py"]
    rules += [service.folder / "adapters" / f"{name}.py" for name in ("messages", "server")]

    raised = {(path.name, name) for path in rules for name in raises(path)}

    unlike = {(path, name) for path, name in raised if name not in own}
    assert unlike == set()


@each_service
def test_a_codec_raises_for_records_that_state_nothing_and_for_nothing_else(service: Service) -> None:
    codecs = [
        path for path in service.folder.glob("adapters/*.py") if path.name in ("codec.py", "readers.py")
    ]

    assert {name for path in codecs for name in raises(path)} <= {MalformedError.__name__}


@each_service
def test_lines_in_the_log_are_changes_with_fields(service: Service) -> None:
    modules = service.folder.rglob("*.py")

    assert [(path.name, line) for path in modules for line in free_log_lines(path)] == []


def hints(function: Any) -> dict[str, Any]:
    """Return the types of a function's parameters, in order, and of what it returns."""
    return get_type_hints(function)


def first(function: Any) -> tuple[str, Any] | None:
    """Return name and type of a function's first parameter."""
    return next(iter(hints(function).items()), None)


def functions(module: ModuleType) -> Iterator[tuple[str, Any]]:
    """Yield the public functions that a module defines."""
    for name, value in vars(module).items():
        if inspect.isfunction(value) and value.__module__ == module.__name__ and not name.startswith("_"):
            yield name, value


def classes(module: ModuleType) -> Iterator[tuple[str, Any]]:
    """Yield the classes that a module defines."""
    for name, value in vars(module).items():
        if inspect.isclass(value) and value.__module__ == module.__name__:
            yield name, value


def revision(message: Any, field: str) -> bool:
    """Return whether a message has a revision of this name."""
    found = message.fields_by_name.get(field)
    return found is not None and found.message_type is not None and found.message_type.full_name == REVISION


def raises(path: Path) -> Iterator[str]:
    """Yield the names of the classes that a module raises; what is raised again has none."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Raise) and node.exc is not None:
            raised = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
            if isinstance(raised, ast.Name) and raised.id[:1].isupper():
                yield raised.id


def free_log_lines(path: Path) -> Iterator[int]:
    """Yield the lines where a module logs a text of its own instead of calling `log_change`."""
    levels = {"debug", "info", "warning", "error", "exception", "critical", "log"}
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in levels:
            logger = node.func.value
            if isinstance(logger, ast.Name) and logger.id in {"log", "_log", "logging", "logger"}:
                yield node.lineno


SECRET = b'{"properties":["hunter2"],"state":"hunter2"'
NINES = "9" * 5000


def read(codec: Codec[Any], record: Record, offset: int = 7) -> tuple[Any, LogRecordReader[Any]]:
    reader = LogRecordReader(codec, "the-topic")
    event, _ = reader.step(lambda state, _: state, None, Entry(3, offset, record))
    return event, reader


@pytest.mark.parametrize(
    ("codec", "key"),
    [
        (ConfigCodec(), b"connector-orders"),
        (ConfigCodec(), b"foreign"),
        (ConfigCodec(), b"\xff"),
        (ConfigCodec(), f"task-x-{NINES}".encode()),
        (OffsetCodec(), b'["orders", {}]'),
        (OffsetCodec(), b"\xff"),
        (OffsetCodec(), rb'["\ud800",{}]'),
        (OffsetCodec(), rb'["orders",{"file":"\udfff"}]'),
        (OffsetCodec(), f'["orders",{{"at":{NINES}}}]'.encode()),
        (StatusCodec(), b"status-task-orders-0"),
        (StatusCodec(), f"status-task-orders-{NINES}".encode()),
        (StatusCodec(), b"foreign"),
        (StatusCodec(), b"\xff"),
        (SchedulerCodec(), b'["orders",-1]'),
        (SchedulerCodec(), f'["orders",{2**31}]'.encode()),
        (SchedulerCodec(), rb'["\ud800"]'),
        (SchedulerCodec(), b"\xff"),
    ],
)
def test_a_record_that_cannot_be_read_is_one_warning_with_its_place_and_key(
    codec: Codec[Any], key: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    event, reader = read(codec, Record(key, SECRET))

    assert event is None
    (line,) = caplog.records
    about: dict[str, Any] = line.__dict__["fields"]
    assert (line.levelno, line.getMessage()) == (logging.WARNING, "record ignored")
    assert (about["topic"], about["partition"], about["offset"]) == ("the-topic", 3, 7)
    assert about["key"] == repr(key)[:300]
    assert about["why"]
    assert "hunter2" not in str(about)
    assert reader.unreadable.records == 1
    assert reader.unreadable.last == "topic the-topic, partition 3, offset 7"


@pytest.mark.parametrize(
    ("codec", "key"), [(OffsetCodec(), b'["orders",{}]'), (SchedulerCodec(), b'["orders",0]')]
)
def test_a_value_that_cannot_be_read_forgets_its_key_and_is_one_error(
    codec: Codec[Any], key: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    event, reader = read(codec, Record(key, SECRET))

    assert codec.encode(event) == Record(key, None)
    (line,) = caplog.records
    about: dict[str, Any] = line.__dict__["fields"]
    assert (line.levelno, line.getMessage()) == (logging.ERROR, "record taken for a tombstone")
    assert (about["topic"], about["partition"], about["offset"]) == ("the-topic", 3, 7)
    assert "hunter2" not in str(about)
    assert reader.unreadable.records == 1


@pytest.mark.parametrize(
    ("codec", "key", "value"),
    [
        (SchedulerCodec(), '["a",0]', f'{{"worker":"w","generation":{2**63},"partitions":[]}}'),
        (SchedulerCodec(), '["a",0]', f'{{"worker":"w","generation":{2**62 + 1},"partitions":[]}}'),
        (SchedulerCodec(), '["a",0]', f'{{"worker":"w","generation":1,"partitions":[["t",{2**31}]]}}'),
        (SchedulerCodec(), '["a",0]', '{"worker":"\\ud800","generation":1,"partitions":[]}'),
        (StatusCodec(), "status-task-a-0", f'{{"state":"RUNNING","worker_id":"w","generation":{2**63 - 1}}}'),
        (StatusCodec(), "status-task-a-0", '{"state":"RUNNING","worker_id":"\\udead","generation":1}'),
        (ConfigCodec(), "tasks-fencing-a", f'{{"task-count":{2**31 - 1}}}'),
        (OffsetCodec(), '["a",{"f":1}]', '{"at":1e999}'),
        (OffsetCodec(), '["a",{"f":1}]', '{"at":NaN}'),
        (OffsetCodec(), '["a",{"f":1}]', '{"at":%s}' % ("[" * 100 + "]" * 100)),
    ],
)
def test_what_could_not_be_told_or_followed_is_not_read(codec: Codec[Any], key: str, value: str) -> None:
    """A message has 64 bits and UTF-8; a generation has a next one; a round of fencing has an end."""
    found = decode(codec, Record(key.encode(), value.encode()))

    assert found.why
    assert found.event is None or codec.encode(found.event).value is None


def test_the_largest_round_of_fencing_is_read() -> None:
    assert decode(ConfigCodec(), Record(b"tasks-fencing-a", b'{"task-count":100000}')).event == TasksFenced(
        "a", 100_000
    )


@pytest.mark.parametrize("codec", [ConfigCodec(), StatusCodec(), OffsetCodec(), SchedulerCodec()])
def test_a_record_too_large_to_be_told_is_not_read(codec: Codec[Any]) -> None:
    assert "bytes" in decode(codec, Record(b"connector-a", b" " * MAX_BYTES)).why
