"""The page of a plugin: everything its spec says, as Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from copycat_connect.config.key import ConfigKey
from copycat_connect.config.parsing import setting_to_string
from copycat_connect.plugin.spec import PluginSpec

_ENVIRONMENT = (
    "`${env:NAME}` is the variable NAME in the environment of the workers, once their properties have"
    " `config.providers=env` and"
    " `config.providers.env.class=org.apache.kafka.common.config.provider.EnvVarConfigProvider`;"
    " with `copycat up`, each behind `--set`."
)


def render_page(spec: PluginSpec) -> str:
    """Return the page; the same spec always gives the same text."""
    return "\n".join([*_head(spec), *_keys(spec), *_examples(spec)]).rstrip() + "\n"


def _head(spec: PluginSpec) -> Iterator[str]:
    yield f"# {spec.class_name.rpartition('.')[2]}"
    yield ""
    yield spec.summary
    yield ""
    yield f"`{spec.class_name}` ({spec.kind.value})"
    yield ""
    if spec.guarantees:
        yield f"Guarantees: {spec.guarantees}"
        yield ""


def _keys(spec: PluginSpec) -> Iterator[str]:
    if spec.config.keys:
        yield from key_table(spec.config.keys.values())


def key_table(keys: Iterable[ConfigKey]) -> Iterator[str]:
    """Yield the lines of a table of keys, in their order."""
    yield "| key | type | default | importance | meaning |"
    yield "| --- | --- | --- | --- | --- |"
    for key in keys:
        cells = (f"`{key.name}`", key.type.value, _default(key), key.importance.value, key.doc)
        yield "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
    yield ""


def _default(key: ConfigKey) -> str:
    if not key.has_default:
        return "required"
    text = setting_to_string(key.default, key.type)
    return "none" if text is None else f"`{text}`" if text else "empty"


def _examples(spec: PluginSpec) -> Iterator[str]:
    for title, example in spec.examples.items():
        yield f"{title}:"
        yield ""
        yield "```properties"
        for key, value in example.items():
            # A properties file takes a lone backslash for the beginning of an escape.
            yield f"{key}={value}".replace("\\", "\\\\")
        yield "```"
        yield ""
        if any("${env:" in value for value in example.values()):
            yield _ENVIRONMENT
            yield ""
