"""A worker's metrics as a test looks at them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from copycat.host.v1 import host_service_pb2 as pb
from copycat.types.v1 import types_pb2
from copycat_connect.cluster import Instance, TargetState
from copycat_executor.background import ChangeSignal
from copycat_executor.domain.desired import WantedConnector, WantedTask
from copycat_executor.domain.running import UsedPlugin
from copycat_executor.metrics.worker_meter import WorkerMeter
from copycat_executor.state.runs import ConnectorRun, Runs, TaskRun
from copycat_telemetry.metrics.definitions import Reading, Value
from copycat_telemetry.metrics.sampled import Windows

RUNNING, PAUSED, FAILED = types_pb2.STATE_RUNNING, types_pb2.STATE_PAUSED, types_pb2.STATE_FAILED
STOPPED, RESTARTING = types_pb2.STATE_STOPPED, types_pb2.STATE_RESTARTING
UNASSIGNED = types_pb2.STATE_UNASSIGNED
CONFIG = {"connector.class": "Clock"}


def measure(name: str, *values: float) -> pb.Measure:
    """Return what a host reports of values it noted."""
    return pb.Measure(
        name=name, count=len(values), total=sum(values),
        highest=max(values), lowest=min(values), last=values[-1],
    )  # fmt: skip


def made_of(kind: str = "source") -> list[pb.PluginInUse]:
    """Return what a task says it is made of."""
    return [
        pb.PluginInUse(role="connector", class_name="Clock", version="1.2", type=kind),
        pb.PluginInUse(role="task", class_name="ClockTask", version="1.2"),
        pb.PluginInUse(role="key-converter", class_name="Text", version="4.0"),
        pb.PluginInUse(role="value-converter", class_name="Json", version="4.1"),
        pb.PluginInUse(role="header-converter", class_name="Simple", version="undefined"),
    ]


def values(readings: Iterable[Reading], group: str, **tags: str) -> dict[str, Value] | None:
    """Return the values of the one instance of a group with exactly these tags, or None."""
    found = [dict(each.values) for each in readings if each.group.name == group and each.tags == tags]
    assert len(found) <= 1, found
    return found[0] if found else None


class Worker:
    """A meter of what runs here, with a clock that a test moves."""

    def __init__(self, windows: Windows | None = None) -> None:
        self.now = 100.0
        self.wall = 1_700_000_000.0
        meter = WorkerMeter(windows or Windows(), clock=lambda: self.now, wall=lambda: self.wall)
        self.runs = Runs(ChangeSignal(), meter)

    def begin(
        self, connector: str, task: int | None = None, config: dict[str, str] | None = None
    ) -> Instance:
        """Have an instance start."""
        instance, chosen = Instance(connector, task), config or CONFIG
        if task is None:
            wanted = WantedConnector(connector, chosen, TargetState.STARTED, 1, publish=False)
            self.runs.connector(connector).begin(wanted)
        else:
            wanted_task = WantedTask(instance, chosen, {}, 1, TargetState.STARTED, 1, (), settled=True)
            self.runs.task(instance).begin(wanted_task)
        return instance

    def state(self, instance: Instance, state: types_pb2.State.ValueType) -> None:
        """Have an instance change its state."""
        self._run(instance).measure_state(state)

    def plugin(self, connector: str, plugin: UsedPlugin) -> None:
        """Have the plugin of a connector become known."""
        meter = self.runs.connector(connector).meter
        assert meter is not None
        meter.plugin = plugin

    def plugins(self, instance: Instance, plugins: list[pb.PluginInUse]) -> None:
        """Have a task say what it is made of."""
        meter = self.runs.task(instance).meter
        assert meter is not None
        meter.made_of(plugins)

    def measured(self, instance: Instance, measures: list[pb.Measure]) -> None:
        """Have a task say what it measured."""
        meter = self.runs.task(instance).meter
        assert meter is not None
        meter.note(measures)

    def leave(self, instance: Instance) -> None:
        """Have an instance leave."""
        self._run(instance).leave()

    def readings(self) -> Iterator[Reading]:
        """Yield all that is reported."""
        return self.runs.readings()

    def run(self, connector: str, task: int | None = None, *, kind: str = "source") -> Instance:
        """Have an instance start and run."""
        instance = self.begin(connector, task)
        if task is not None:
            self.plugins(instance, made_of(kind))
        self.state(instance, RUNNING)
        return instance

    def told(self, group: str, **tags: str) -> dict[str, Value] | None:
        """Return what is reported of one instance of a group, or None."""
        return values(self.readings(), group, **tags)

    def _run(self, instance: Instance) -> TaskRun | ConnectorRun:
        if instance.task is None:
            return self.runs.connector(instance.connector)
        return self.runs.task(instance)
