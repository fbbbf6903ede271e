"""Loading of the installed plugins: one that cannot be loaded is left out and noted, whatever it does."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from importlib.metadata import EntryPoint, entry_points
from types import MappingProxyType
from typing import Final

from copycat_connect.config.definition import ConfigDef
from copycat_connect.error_text import text_of
from copycat_connect.errors import ConfigError, CopycatError
from copycat_connect.plugin.registry import Plugins
from copycat_connect.plugin.spec import PluginKind, PluginSpec, UnloadablePlugin
from copycat_connect.plugin.versions import version_order

ENTRY_POINTS: Final = "copycat.plugins"
MAX_REASON_CHARACTERS: Final = 1000
_FACTORY: Final = "a class or function, or where one is, such as `package.module:Class`"
_PLACE: Final = re.compile(r"[\w.]+:\w+")
_NONE: Mapping[str, str] = MappingProxyType({})


def load_plugins(
    *,
    failed_before: Mapping[str, str] = _NONE,
    later: Collection[str] = (),
    loading: Callable[[str], None] = lambda entry_point: None,
) -> Plugins:
    """Load every plugin that an installed package announces in the entry-point group `copycat.plugins`.

    An entry point names a module that has `PLUGIN` (one spec) or `PLUGINS` (several). What cannot be loaded,
    or has a wrong spec, is in `unloadable` of the answer. Of two packages that have the same plugin the one
    with the higher version is used.

    Args:
        failed_before: Entry points not to load, e.g. since they ended or held up another process, and why.
        later: Entry points not to load, of which nothing is said.
        loading: Called with each entry point before it is loaded, so that one that never returns is known.
    """
    found = _Found()
    for entry_point in sorted(entry_points(group=ENTRY_POINTS), key=_order):
        name = f"{entry_point.name} = {entry_point.value}"
        if name in failed_before:
            found.leave_out(entry_point, failed_before[name])
            continue
        if name in later:
            continue
        loading(name)
        try:
            specs = announced_by(entry_point)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # author code may fail in any way when it is loaded, SystemExit too
            found.leave_out(entry_point, reason_of(error))
            continue
        for spec in specs:
            found.add(entry_point, spec)
    return Plugins((spec for _, spec in found.used.values()), found.unloadable)


def reason_of(error: BaseException) -> str:
    """Return in one line why author code failed; only the text of our own errors says enough by itself."""
    text = error.message if isinstance(error, CopycatError) else f"{type(error).__name__}: {text_of(error)}"
    return " ".join(text.split())[:MAX_REASON_CHARACTERS]


@dataclass(slots=True)
class _Found:
    """What was loaded so far."""

    used: dict[tuple[PluginKind, str], tuple[EntryPoint, PluginSpec]] = field(default_factory=dict)
    unloadable: list[UnloadablePlugin] = field(default_factory=list)

    def add(self, entry_point: EntryPoint, spec: PluginSpec) -> None:
        key = (spec.kind, spec.class_name)
        other = self.used.get(key)
        if other is None:
            self.used[key] = (entry_point, spec)
            return
        new = (entry_point, spec)
        is_newer = version_order(spec.version) > version_order(other[1].version)
        (winner, kept), (loser, dropped) = (new, other) if is_newer else (other, new)
        self.used[key] = (winner, kept)
        reason = (
            f"its {spec.kind.value} {spec.class_name} {dropped.version} is not used, since the package"
            f" {_package(winner)[0]} has it too, in version {kept.version}; uninstall one of the two"
        )
        self.leave_out(loser, reason, is_loaded=True)

    def leave_out(self, entry_point: EntryPoint, reason: str, *, is_loaded: bool = False) -> None:
        name = f"{entry_point.name} = {entry_point.value}"
        self.unloadable.append(UnloadablePlugin(*_package(entry_point), name, reason, is_loaded))


def _package(entry_point: EntryPoint) -> tuple[str, str]:
    about = entry_point.dist
    return ("unknown", "unknown") if about is None else (about.name, about.version)


def _order(entry_point: EntryPoint) -> tuple[str, str]:
    return _package(entry_point)[0], entry_point.name


def announced_by(entry_point: EntryPoint) -> tuple[PluginSpec, ...]:
    """Return the plugins that an entry point announces, by a module that has `PLUGIN` or `PLUGINS`.

    Raises:
        ConfigError: The module has neither, or what it has does not describe plugins.
        BaseException: Whatever importing the module raises.
    """
    module = entry_point.load()
    found = getattr(module, "PLUGINS", None)
    if found is None:
        found = getattr(module, "PLUGIN", None)
        if found is None:
            raise ConfigError(
                f"{entry_point.value} has neither PLUGIN nor PLUGINS: the entry point must name a module that"
                " has one of them, a PluginSpec or a tuple of those"
            )
        found = (found,)
    specs = tuple(found)
    for spec in specs:
        _check(spec)
    return specs


def _is_factory(given: object) -> bool:
    return callable(given) or (isinstance(given, str) and _PLACE.fullmatch(given) is not None)


def _check(spec: object) -> None:
    """Check a spec; Python lets an author put anything into its fields.

    Raises:
        ConfigError: It is wrong; the text names the field, what it has and what it needs.
    """
    if not isinstance(spec, PluginSpec):
        raise ConfigError(f"a plugin is described by a {type(spec).__name__}: it must be a PluginSpec")
    wanted: list[tuple[str, bool, str]] = [
        ("class_name", isinstance(spec.class_name, str) and bool(spec.class_name.strip()), "a class name"),
        ("kind", isinstance(spec.kind, PluginKind), "a PluginKind"),
        ("version", isinstance(spec.version, str), "text, `undefined` where there is none"),
        ("config", isinstance(spec.config, ConfigDef), "a ConfigDef"),
        ("factory", _is_factory(spec.factory), _FACTORY),
        ("task_class_name", isinstance(spec.task_class_name, str), "text"),
        ("task_factory", spec.task_factory is None or _is_factory(spec.task_factory), _FACTORY),
    ]
    for name, is_right, need in wanted:
        if not is_right:
            given = type(getattr(spec, name)).__name__
            raise ConfigError(
                f"the PluginSpec of {spec.class_name!r} has a {given} as {name}: it must be {need}"
            )
