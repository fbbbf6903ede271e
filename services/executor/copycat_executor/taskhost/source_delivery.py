"""Makes what a source's guarantee of delivery needs: its producer, and when it commits."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from copycat_connect.config.delivery import (
    ExactlyOnceSources,
    Guarantee,
    guarantee_of_source,
    transactional_id,
)
from copycat_connect.config.framework_names import EXACTLY_ONCE_SUPPORT
from copycat_connect.config.offsets_store import is_the_workers, primary_topic
from copycat_connect.config.setting import ConfigSetting
from copycat_connect.config.worker_keys import EXACTLY_ONCE
from copycat_connect.errors import ConfigError

from copycat_executor.kafka.client_config import (
    TRANSACTION_TIMEOUT,
    ClientConfig,
    idempotent_config,
    producer_config,
    transactional_config,
)
from copycat_executor.kafka.client_statistics import ProducerStatistics
from copycat_executor.kafka.clients import warn_unknown
from copycat_executor.kafka.producer import KafkaSender
from copycat_executor.kafka.transactional_producer import KafkaTransactionalSender
from copycat_executor.pipeline.source.at_least_once import AtLeastOnce
from copycat_executor.pipeline.source.at_most_once import AtMostOnce
from copycat_executor.pipeline.source.exactly_once import ExactlyOnce
from copycat_executor.pipeline.source.expected_offsets import ExpectedOffsets
from copycat_executor.pipeline.source.progress import SourceProgress
from copycat_executor.pipeline.source.send_failures import SendFailures
from copycat_executor.pipeline.source.source_delivery import SourceDelivery
from copycat_executor.pipeline.source.source_parts import SourceParts
from copycat_executor.pipeline.source.transaction_boundaries import Boundary
from copycat_executor.pipeline.source.transaction_offsets import TransactionOffsets
from copycat_executor.pipeline.task.commit_meter import CommitMeter
from copycat_executor.pipeline.task.control import TaskControl
from copycat_executor.pipeline.task.measures import Measures
from copycat_executor.pipeline.task.timing import Timing
from copycat_executor.taskhost.host_surroundings import HostSurroundings
from copycat_executor.taskhost.order import TaskOrder

MakeDelivery = Callable[[SourceParts, CommitMeter], SourceDelivery]


@dataclass(frozen=True, slots=True)
class DeliveryParts:
    """What differs between the guarantees of a source task."""

    sender: KafkaSender | KafkaTransactionalSender
    """The producer."""
    progress: SourceProgress
    """Takes note of what was handed to the producer."""
    commits: SourceProgress
    """What commits take their offsets from; the same, unless they come first."""
    make: MakeDelivery
    """Makes the guarantee from everything around the task."""
    forbidden_topic: str | None = None
    """A topic the task may not write to."""
    expected: ExpectedOffsets | None = None
    """What commits rest on, where they come first."""


class Untracked(SourceProgress):
    """Progress that nobody asks for: the offsets were committed before the records were sent."""

    def advance(self, partition: object, offset: object) -> None:
        """Take no note."""


@dataclass(frozen=True, slots=True)
class DeliveryNeeds:
    """What every guarantee is made from."""

    order: TaskOrder
    settings: Mapping[str, ConfigSetting]
    """The source connector's settings."""
    control: TaskControl
    failures: SendFailures
    measures: Measures
    timing: Timing
    surroundings: HostSurroundings
    report_each: bool
    """Whether the task wants to hear of each record."""

    @property
    def client_id(self) -> str:
        """Of the producer, Kafka Connect's."""
        return f"connector-producer-{self.order.task_id}"

    def statistics(self) -> ProducerStatistics:
        """Return what hears the producer's statistics."""
        return ProducerStatistics(self.measures, self.order.client_metric_interval)


def guarantee_of(order: TaskOrder) -> Guarantee:
    """Return the guarantee under which a source task runs.

    Raises:
        ConfigError: It is exactly once, and the worker does not allow that any more.
    """
    sources = ExactlyOnceSources.of(order.worker_config)
    guarantee = guarantee_of_source(order.connector_config, sources)
    if guarantee is Guarantee.EXACTLY_ONCE and sources is ExactlyOnceSources.NONE:
        message = (
            "The connector requires exactly-once delivery, which this worker does not allow: set "
            f"{EXACTLY_ONCE.name}=enabled in the worker's properties or remove it there, or give up "
            f"{EXACTLY_ONCE_SUPPORT}=required"
        )
        raise ConfigError(message, key=EXACTLY_ONCE_SUPPORT)
    return guarantee


def delivery_parts(guarantee: Guarantee, needs: DeliveryNeeds) -> DeliveryParts:
    """Make what differs between the guarantees.

    Raises:
        ConfigError: The producer's settings do not allow the guarantee.
    """
    match guarantee:
        case Guarantee.EXACTLY_ONCE:
            return _exactly_once(needs)
        case Guarantee.AT_MOST_ONCE:
            return _at_most_once(needs)
        case Guarantee.AT_LEAST_ONCE:
            return _at_least_once(needs)


def _at_least_once(needs: DeliveryNeeds) -> DeliveryParts:
    order, progress = needs.order, SourceProgress()
    config = producer_config(order.worker_config, order.connector_config, needs.client_id)

    def make(parts: SourceParts, meter: CommitMeter) -> SourceDelivery:
        surroundings = needs.surroundings
        return AtLeastOnce(parts, needs.timing, meter, surroundings.clock, surroundings.garbage.collect)

    return DeliveryParts(_sender(needs, config), progress, progress, make)


def _at_most_once(needs: DeliveryNeeds) -> DeliveryParts:
    order, commits = needs.order, SourceProgress()
    config = idempotent_config(order.worker_config, order.connector_config, needs.client_id)

    def make(parts: SourceParts, meter: CommitMeter) -> SourceDelivery:
        surroundings = needs.surroundings
        return AtMostOnce(
            parts, commits, needs.timing, meter, clock=surroundings.clock, tidy=surroundings.garbage.collect
        )

    sender = _sender(needs, config, repeats=False)
    return DeliveryParts(sender, Untracked(), commits, make, expected=ExpectedOffsets())


def _sender(needs: DeliveryNeeds, config: ClientConfig, *, repeats: bool = True) -> KafkaSender:
    warn_unknown("producer", config)
    return KafkaSender(
        config,
        on_failure=needs.failures.add,
        draining=lambda: needs.control.stopping,
        report_each=needs.report_each,
        statistics=needs.statistics(),
        replaced=lambda: needs.measures.note("source-producer-replaced"),
        repeats=repeats,
    )


def _exactly_once(needs: DeliveryNeeds) -> DeliveryParts:
    order, progress, control = needs.order, SourceProgress(), needs.control
    worker, connector = order.worker_config, order.connector_config
    config = transactional_config(
        worker,
        connector,
        needs.client_id,
        transactional_id(worker["group.id"] or "", order.connector, order.task),
    )
    warn_unknown("producer", config)
    timeout = int(config.properties[TRANSACTION_TIMEOUT]) / 1000
    boundary = Boundary.of(needs.settings, needs.timing.commit_interval, timeout)
    home = primary_topic(worker, connector)
    topic, own = home.name, not is_the_workers(home, worker)
    sender = KafkaTransactionalSender(
        config,
        topic,
        on_failure=needs.failures.fatal,
        draining=lambda: control.stopping,
        dropped=lambda: control.dropped,
        report_each=needs.report_each,
        statistics=needs.statistics(),
    )

    def make(parts: SourceParts, meter: CommitMeter) -> SourceDelivery:
        surroundings = needs.surroundings
        return ExactlyOnce(
            parts,
            sender,
            TransactionOffsets(order.connector, topic, parts.link, copied=own),
            boundary=boundary,
            timing=needs.timing,
            meter=meter,
            clock=surroundings.clock,
            tidy=surroundings.garbage.collect,
        )

    return DeliveryParts(sender, progress, progress, make, forbidden_topic=topic)
