"""From what a connector divided its work into to what is published as its task configurations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from copycat_connect.errors import ConnectError
from copycat_connect.plugin.spec import PluginKind, PluginSpec

from copycat_executor.connectorhost.secrets import Resolved

TASK_CLASS = "task.class"
SUBSCRIPTIONS = ("topics", "topics.regex")


def publishable(
    spec: PluginSpec, config: Resolved, task_configs: Sequence[Mapping[str, str]]
) -> list[dict[str, str]]:
    """Complete task configurations and take the secrets out of them.

    Raises:
        ConnectError: They are not maps from text to text.
    """
    _check(task_configs)
    copied = {} if spec.kind is not PluginKind.SINK else _subscription(config)
    completed = [{**each, TASK_CLASS: spec.task_class_name, **copied} for each in task_configs]
    return config.restore(completed)


def _subscription(config: Resolved) -> dict[str, str]:
    given = config.given()
    return {key: given[key] for key in SUBSCRIPTIONS if given.get(key, "").strip()}


def _check(task_configs: Sequence[Mapping[str, str]]) -> None:
    """Refuse here, by its place, what nobody could read after the pipe."""
    for number, config in enumerate(task_configs):
        if not isinstance(config, Mapping):
            message = f"The configuration of task {number} is of type {_type(config)}; return a dict of texts"
            raise ConnectError(message)
        for key, value in config.items():
            wrong = key if not isinstance(key, str) else value
            if not (isinstance(wrong, str) or (wrong is None and isinstance(key, str))):
                what = "The key" if wrong is key else "The value of"
                found = f"{what} {key} in the configuration of task {number} is of type {_type(wrong)}"
                raise ConnectError(f"{found}; make it text with str(...)")
            _check_characters(number, key, value)


def _check_characters(number: int, key: str, value: str | None) -> None:
    for text, where in ((key, "a key"), (value or "", f"a value of {key!a}")):
        try:
            text.encode()
        except UnicodeEncodeError:
            what = f"The configuration of task {number} has {where} that UTF-8 cannot hold"
            fix = (
                "half of a surrogate pair, or bytes of a file's name (os.fsdecode): write it in another form"
            )
            raise ConnectError(f"{what}, {fix}") from None


def _type(value: object) -> str:
    return type(value).__qualname__
