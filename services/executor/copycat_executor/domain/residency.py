"""How long hosts stay: empty ones end after a linger, old ones are left, one fresh one is kept ready."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from copycat_executor.domain.host_view import HostView


@dataclass(frozen=True, slots=True)
class ResidencyRules:
    """What the settings say about hosts."""

    slots: int
    """The most hosts at a time."""
    lifetime: float
    """Seconds after which a host is recycled."""
    linger: float
    """Seconds an empty used host stays for its connector's next task."""
    spares: int
    """Fresh hosts kept ready, so that a task starts at once."""


@dataclass(frozen=True, slots=True)
class Upkeep:
    """What to do about hosts now."""

    end: tuple[str, ...] = ()
    """Hosts to end; they are empty."""
    retire: tuple[str, ...] = ()
    """Hosts to leave: their tasks move, then they end."""
    launch: int = 0
    """Fresh hosts to launch."""


def upkeep(hosts: Sequence[HostView], now: float, rules: ResidencyRules) -> Upkeep:
    """Return what to do about hosts; one old host is left at a time, so that few tasks pause at once."""
    end = {host.host_id for host in hosts if not host.tasks and _over(host, now, rules)}
    fresh = [host for host in hosts if host.fresh and not host.retiring and host.host_id not in end]
    end |= {host.host_id for host in fresh[rules.spares :]}
    kept = len(fresh[: rules.spares])
    free = rules.slots - len(hosts)
    return Upkeep(
        end=tuple(sorted(end)),
        retire=_oldest(hosts, now, rules),
        launch=max(0, min(rules.spares - kept, free)),
    )


def _over(host: HostView, now: float, rules: ResidencyRules) -> bool:
    if host.retiring or now - host.launched >= rules.lifetime:
        return True
    return not host.fresh and now - host.empty_since >= rules.linger


def _oldest(hosts: Sequence[HostView], now: float, rules: ResidencyRules) -> tuple[str, ...]:
    if any(host.retiring for host in hosts):
        return ()
    old = [host for host in hosts if host.tasks and now - host.launched >= rules.lifetime]
    return (min(old, key=lambda host: (host.launched, host.host_id)).host_id,) if old else ()
