"""The page of a plugin: everything its spec says, as Markdown."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from copycat_connect.config.key import ConfigKey, Importance
from copycat_connect.config.parsing import setting_to_string
from copycat_connect.config.setting import Type
from copycat_connect.plugin.spec import PluginSpec

_ENVIRONMENT = (
    "`${env:NAME}` needs `config.providers=env` and"
    " `config.providers.env.class=org.apache.kafka.common.config.provider.EnvVarConfigProvider`"
    " in the worker properties (`copycat up`: behind `--set`)."
)
#: So many keys with the same words are named together, and not in the table.
_ALIKE = 4
#: So many keys of one prefix are named by it where all are said the same of.
_FAMILY = 5
_NO_EFFECT = re.compile(r"(Has n|N)o effect: ")


def render_page(spec: PluginSpec, elsewhere: Mapping[str, str] | None = None) -> str:
    """Return the page; the same spec always gives the same text.

    Args:
        spec: The plugin.
        elsewhere: Keys that another page describes in the same words, with a link to it; they are only
            named here.
    """
    return "\n".join([*_head(spec), *_keys(spec, elsewhere or {}), *_examples(spec)]).rstrip() + "\n"


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


def _keys(spec: PluginSpec, elsewhere: Mapping[str, str]) -> Iterator[str]:
    here = [key for key in spec.config.keys.values() if key.name not in elsewhere]
    alike = Counter(key.doc for key in here)
    in_table = [key for key in here if alike[key.doc] < _ALIKE and not _NO_EFFECT.match(key.doc)]
    if in_table:
        yield from key_table(in_table)
    for link in dict.fromkeys(elsewhere[name] for name in spec.config.keys if name in elsewhere):
        named = _families([name for name in spec.config.keys if elsewhere.get(name) == link], here)
        yield from (f"Also keys of {link}, as described there: {_names(named)}.", "")
    without = [key for key in here if _NO_EFFECT.match(key.doc)]
    if without:
        yield from ("Accepted, without effect:", "")
        for doc in dict.fromkeys(key.doc for key in without):
            yield f"- {_names(key.name for key in without if key.doc == doc)}: {_NO_EFFECT.sub('', doc)}"
        yield ""
    for doc, number in alike.items():
        if number >= _ALIKE and not _NO_EFFECT.match(doc):
            named = _families([key.name for key in here if key.doc == doc], in_table)
            yield from (f"{_names(named)}: {doc}", "")


def _families(names: Sequence[str], here: Iterable[ConfigKey]) -> Iterable[str]:
    """Return names, those of a prefix that no key of the table has as one, such as `ssl.*`."""
    own = {key.name.partition(".")[0] for key in here}
    sizes = Counter(name.partition(".")[0] for name in names if "." in name)
    large = {prefix for prefix, size in sizes.items() if size >= _FAMILY} - own
    return dict.fromkeys(
        f"{prefix}.*" if (prefix := name.partition(".")[0]) in large else name for name in names
    )


def _names(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def key_table(keys: Iterable[ConfigKey]) -> Iterator[str]:
    """Yield the lines of a table of keys, in their order; those of high importance are bold."""
    yield "| key | default | meaning |"
    yield "| --- | --- | --- |"
    for key in keys:
        name = f"**`{key.name}`**" if key.importance is Importance.HIGH else f"`{key.name}`"
        cells = (name, _default(key), key.doc)
        yield "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
    yield ""


def _default(key: ConfigKey) -> str:
    kind = " list" if key.type is Type.LIST else ""
    if not key.has_default:
        return f"required{kind}"
    text = setting_to_string(key.default, key.type)
    return "none" if text is None else f"`{text}`" if text else f"empty{kind}"


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
