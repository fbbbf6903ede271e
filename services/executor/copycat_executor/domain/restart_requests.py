"""Restart requests with flags (`includeTasks`, `onlyFailed`): whom they mean on this worker."""

from __future__ import annotations

from copycat_connect.cluster import Instance

from copycat_executor.domain.running import Phase, Running


def chosen(
    running: Running, connector: str, *, include_tasks: bool, only_failed: bool
) -> tuple[Instance, ...]:
    """Return the instances here to restart: the connector, then its tasks by index."""
    found: list[Instance] = []
    own = running.connectors.get(connector)
    if own is not None and _meant(own.phase, only_failed):
        found.append(Instance(connector))
    if include_tasks:
        tasks = [
            instance
            for instance, task in running.tasks.items()
            if instance.connector == connector and _meant(task.phase, only_failed)
        ]
        found.extend(sorted(tasks, key=lambda instance: instance.task or 0))
    return tuple(found)


def _meant(phase: Phase, only_failed: bool) -> bool:
    return phase is Phase.FAILED if only_failed else phase is not Phase.STOPPING
