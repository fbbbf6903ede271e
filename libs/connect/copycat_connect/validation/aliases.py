"""The keys of transformations and predicates, by the aliases in a configuration, and values to recommend."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from copycat_connect.cluster import Config
from copycat_connect.config.definition import ConfigDef
from copycat_connect.config.framework_common import MAX_ALIASES
from copycat_connect.config.framework_names import (
    PLUGIN_VERSION_SUFFIX,
    PREDICATES,
    PREDICATES_GROUP,
    TRANSFORMS,
    TRANSFORMS_GROUP,
)
from copycat_connect.config.key import ConfigKey, Importance, Validator, Width
from copycat_connect.config.parsing import ClassLookup, parse_type
from copycat_connect.config.setting import ConfigSetting, Type
from copycat_connect.errors import ConfigError
from copycat_connect.plugin.registry import Plugins
from copycat_connect.plugin.spec import PluginKind, PluginSpec

PREDICATE = "predicate"
NEGATE = "negate"
_STAGE_KEYS = (
    ConfigKey(
        PREDICATE,
        Type.STRING,
        Importance.MEDIUM,
        default=None,
        doc="Alias of the predicate that decides whether the transformation is applied to a record.",
    ),
    ConfigKey(
        NEGATE,
        Type.BOOLEAN,
        Importance.MEDIUM,
        default=False,
        doc="True applies the transformation to the records that do not meet the predicate.",
    ),
)


@dataclass(frozen=True, slots=True)
class _Family:
    """Plugins that are given by alias."""

    kind: PluginKind
    aliases: str
    group: str
    stage_keys: tuple[ConfigKey, ...]

    @property
    def noun(self) -> str:
        return self.kind.value


_FAMILIES = (
    _Family(PluginKind.TRANSFORMATION, TRANSFORMS, TRANSFORMS_GROUP, _STAGE_KEYS),
    _Family(PluginKind.PREDICATE, PREDICATES, PREDICATES_GROUP, ()),
)


def alias_keys(raw: Config, plugins: Plugins) -> Iterator[ConfigKey]:
    """Yield the keys of every transformation and predicate that a configuration names.

    None of a list that is too long: the list itself is refused.
    """
    for family in _FAMILIES:
        aliases: Sequence[str] = parse_type(family.aliases, raw.get(family.aliases), Type.LIST) or ()
        for alias in dict.fromkeys(aliases if len(aliases) <= MAX_ALIASES else ()):
            yield from _keys_of(alias, family, raw, plugins)


def _keys_of(alias: str, family: _Family, raw: Config, plugins: Plugins) -> Iterator[ConfigKey]:
    prefix = f"{family.aliases}.{alias}."
    group = f"{family.group}: {alias}"
    title = family.kind.interface
    spec = plugins.get((raw.get(f"{prefix}type") or "").strip(), (family.kind,))
    version_key = f"{prefix}{PLUGIN_VERSION_SUFFIX.removeprefix('.')}"
    version_error = None if spec is None else _version_error(spec, raw.get(version_key), plugins)
    yield ConfigKey(
        f"{prefix}type",
        Type.CLASS,
        Importance.HIGH,
        validator=_type_validator(prefix, family, raw, plugins, version_error),
        doc=f"Class of the {family.noun} '{alias}'.",
        group=group,
        order=0,
        width=Width.LONG,
        display_name=f"{title} type for {alias}",
        recommender=ClassRecommender(plugins, family.kind),
    )
    yield ConfigKey(
        version_key,
        Type.STRING,
        Importance.HIGH,
        default=None if spec is None else spec.version,
        validator=_refusing(version_error, spec),
        doc=f"Version of the {family.noun} '{alias}'.",
        group=group,
        order=1,
        width=Width.LONG,
        display_name=f"{title} version for {alias}",
        recommender=VersionRecommender(spec),
    )
    if spec is not None and version_error is None:
        yield from _own_keys(spec, family).embedded(prefix, group, 2)


def _own_keys(spec: PluginSpec, family: _Family) -> ConfigDef:
    stage = {key.name for key in family.stage_keys}
    # A plugin's own keys of these names are masked: the framework keeps them.
    own = (key for key in spec.config.keys.values() if key.name not in stage)
    return ConfigDef(*family.stage_keys, *own)


def _version_error(spec: PluginSpec, wanted: str | None, plugins: Plugins) -> ConfigError | None:
    """Return why the installed version is not what is asked for; None when it is."""
    try:
        plugins.check_version(spec, wanted)
    except ConfigError as error:
        return error
    return None


def _refusing(error: ConfigError | None, spec: PluginSpec | None) -> Validator:
    def check(name: str, value: ConfigSetting) -> None:
        del name
        is_default = spec is not None and value == spec.version
        if error is not None and not is_default:
            raise error

    return check


def _type_validator(
    prefix: str, family: _Family, raw: Config, plugins: Plugins, version_error: ConfigError | None
) -> Validator:
    def check(name: str, value: ConfigSetting) -> None:
        negate, predicate = prefix + NEGATE, prefix + PREDICATE
        if family.stage_keys and negate in raw and predicate not in raw:
            raise ConfigError(
                f"Config '{negate}' was provided but there is no config '{predicate}' "
                "defining a predicate to be negated.",
                key=name,
            )
        if value is not None:
            check_class(value, family.kind, plugins)
        if version_error is not None:
            raise version_error

    return check


def class_lookup(plugins: Plugins) -> ClassLookup:
    """Return what finds plugin classes, and the outer classes of those that come for key and value.

    It raises a ConfigError with the reason for a class that is installed but cannot be loaded, and with the
    whole names where a name is only the end of theirs.
    """
    outer = {spec.class_name.rpartition("$")[0] for spec in plugins.all()}

    def find(name: str) -> str | None:
        found = plugins.class_name(name) or (name if name in outer else None)
        if found is None:
            plugins.refuse_unloadable(name)
            hint = _whole_names(name, plugins) + plugins.unloadable_hint()
            if hint:
                raise ConfigError(f"Class {name} could not be found.{hint}")
        return found

    return find


def _whole_names(name: str, plugins: Plugins) -> str:
    """Ask for a class whose name, without its package, is this one or begins with it and a `$`.

    Kafka Connect knows a class inside of another one by its whole name only.
    """
    meant = sorted(
        {
            spec.class_name
            for spec in plugins.all()
            if f"{spec.class_name.rpartition('.')[2]}$".startswith(f"{name}$")
        }
    )
    return f" Did you mean {', '.join(meant)}?" if meant else ""


def check_class(class_name: str, kind: PluginKind, plugins: Plugins) -> None:
    """Check that an installed class is a plugin of that kind.

    Raises:
        ConfigError: It is of another kind, or abstract.
    """
    if plugins.get(class_name, (kind,)) is not None:
        return
    variants = [spec.class_name for spec in plugins.all() if spec.class_name.startswith(f"{class_name}$")]
    if variants:
        message = f"This class is abstract and cannot be created. Did you mean {', '.join(variants)}?"
    else:
        message = f"Class class {class_name} does not implement the {kind.interface} interface"
    raise ConfigError(message)


@dataclass(frozen=True, slots=True)
class ClassRecommender:
    """Proposes the class names of the installed plugins of one kind."""

    plugins: Plugins
    """What is installed."""
    kind: PluginKind
    """The kind to propose."""

    def valid_values(self, name: str, parsed: Mapping[str, ConfigSetting]) -> list[str]:
        """Return the class names."""
        del name, parsed
        return [spec.class_name for spec in self.plugins.all() if spec.kind is self.kind]

    def visible(self, name: str, parsed: Mapping[str, ConfigSetting]) -> bool:
        """Return True."""
        del name, parsed
        return True


@dataclass(frozen=True, slots=True)
class VersionRecommender:
    """Proposes the installed version of a plugin."""

    spec: PluginSpec | None
    """The plugin; None without one, hence nothing to propose."""
    class_key: str | None = None
    """The key hides while this one, which names the plugin's class, has no value; None never hides it."""

    def valid_values(self, name: str, parsed: Mapping[str, ConfigSetting]) -> list[str]:
        """Return the installed version."""
        del name, parsed
        return [] if self.spec is None else [self.spec.version]

    def visible(self, name: str, parsed: Mapping[str, ConfigSetting]) -> bool:
        """Return whether a class is named to choose a version of, were it of a wrong kind."""
        del name
        return self.class_key is None or parsed.get(self.class_key) is not None
