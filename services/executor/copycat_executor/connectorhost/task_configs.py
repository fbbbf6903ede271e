"""From what a connector divided its work into to what is published as its task configurations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from copycat_connect.plugin.spec import PluginKind, PluginSpec

from copycat_executor.connectorhost.secrets import Resolved

TASK_CLASS = "task.class"
SUBSCRIPTIONS = ("topics", "topics.regex")


def publishable(
    spec: PluginSpec, config: Resolved, task_configs: Sequence[Mapping[str, str]]
) -> list[dict[str, str]]:
    """Complete task configurations and take the secrets out of them."""
    copied = {} if spec.kind is not PluginKind.SINK else _subscription(config)
    completed = [{**each, TASK_CLASS: spec.task_class_name, **copied} for each in task_configs]
    return config.restore(completed)


def _subscription(config: Resolved) -> dict[str, str]:
    given = config.given()
    return {key: given[key] for key in SUBSCRIPTIONS if given.get(key, "").strip()}
