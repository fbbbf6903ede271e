"""Settings: the configuration of a component as a class; the field that holds a value declares its key.

    class TickerSettings(Settings):
        topic: str = key(HIGH, check=non_empty, doc="Topic that receives the records.")
        records_per_second: int = key(HIGH, default=10, doc="A task's records each second.")
        zone: ZoneInfo = key(LOW, name="db.timezone", type=STRING, default="UTC", read=ZoneInfo, doc="Zone.")

    settings = TickerSettings.parse(config)   # raises ConfigError: key, shape of the value, the fix
    TickerSettings.config_def()               # what validation, REST and the pages show

A field's annotation says the type: `str`, `bool`, `int`, `float`, `Password`, a tuple, list or frozenset of
`str`, or an enum of texts, which is its own validator; each may be `| None`. `type` says it where the
annotation cannot: LONG, SHORT and CLASS, and whatever `read` makes of the parsed value.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import Enum
from itertools import chain
from types import NoneType, UnionType
from typing import (
    Any,
    ClassVar,
    Final,
    TypeVar,
    Union,
    cast,
    dataclass_transform,
    get_args,
    get_origin,
    get_type_hints,
)

from copycat_connect.cluster import Config
from copycat_connect.config.definition import ConfigDef
from copycat_connect.config.key import NO_DEFAULT, ConfigKey, Importance, Recommender, Validator, Width
from copycat_connect.config.parsing import ClassLookup
from copycat_connect.config.setting import ConfigSetting, Password, Type
from copycat_connect.config.validators import all_of, at_least, one_of

S = TypeVar("S", bound="Settings")
Reader = Callable[[Any], Any]
"""Makes a field's value: of the parsed one, or of the configuration, which of workers has no None."""

_DECLARED: Final = "copycat.key"
_TYPES: Final[Mapping[object, Type]] = {
    str: Type.STRING,
    bool: Type.BOOLEAN,
    int: Type.INT,
    float: Type.DOUBLE,
    Password: Type.PASSWORD,
}
_COLLECTIONS: Final[Mapping[object, Reader]] = {tuple: tuple, frozenset: frozenset, list: list}


@dataclasses.dataclass(frozen=True, slots=True)
class _Declaration:
    """What a field says of its key, besides its annotation."""

    importance: Importance
    name: str | None
    type: Type | None
    check: Validator | None
    read: Reader | None
    facts: Mapping[str, Any]
    """Arguments of `ConfigKey` that are handed on as they are."""


@dataclasses.dataclass(frozen=True, slots=True)
class _Taken:
    """A field that is made of the whole configuration."""

    read: Reader
    keys: tuple[ConfigKey, ...]


@dataclasses.dataclass(frozen=True, slots=True)
class _Nested:
    """A field whose annotation is a settings class."""


def key(
    importance: Importance,
    *,
    doc: str,
    name: str | None = None,
    type: Type | None = None,
    default: ConfigSetting = NO_DEFAULT,
    check: Validator | None = None,
    read: Reader | None = None,
    group: str | None = None,
    order: int = -1,
    width: Width = Width.NONE,
    display_name: str | None = None,
    dependents: Sequence[str] = (),
    recommender: Recommender | None = None,
) -> Any:  # noqa: ANN401 - the field's annotation is its type
    """Declare the key of a field.

    Args:
        importance: How much it matters to most users.
        doc: What it does.
        name: Its name; by default the field's, with dots for underscores.
        type: What it is parsed to, where the annotation does not say so.
        default: Its default, as text or parsed; without one it is required.
        check: Refuses values, the default too. Called with the parsed value, before `read`.
        read: Makes the field's value of the parsed one; not called with None.
        group: See `ConfigKey`, as for all that follow.
        order: Place under the heading.
        width: How wide its input field should be.
        display_name: Title.
        dependents: Names of keys whose meaning depends on this one.
        recommender: Proposes values.
    """
    facts = {
        "default": default,
        "doc": doc,
        "group": group,
        "order": order,
        "width": width,
        "display_name": display_name,
        "dependents": dependents,
        "recommender": recommender,
    }
    return dataclasses.field(metadata={_DECLARED: _Declaration(importance, name, type, check, read, facts)})


def seconds_key(
    name: str,
    *,
    default: int,
    doc: str,
    importance: Importance = Importance.LOW,
    type: Type = Type.LONG,
    least: int = 1,
) -> Any:  # noqa: ANN401 - as above
    """Declare a key in milliseconds, `least` of them at least, whose field holds seconds."""
    return key(
        importance, name=name, type=type, default=default, check=at_least(least), read=seconds_of, doc=doc
    )


def seconds_of(millis: int) -> float:
    """Return milliseconds as seconds; as `read` of a key that several components share."""
    return millis / 1000


def shared_key(declared: ConfigKey, *, read: Reader | None = None) -> Any:  # noqa: ANN401 - as above
    """Declare that a field holds the value of a key that several components share; `read` as in `key`."""
    return dataclasses.field(metadata={_DECLARED: (declared, read)})


def taken_from(read: Reader, *, keys: Iterable[ConfigKey] = ()) -> Any:  # noqa: ANN401 - as above
    """Declare a field that `read` makes of the whole configuration, once all keys are found to be right.

    It is left out of what is printed of the settings, as it may hold secrets.

    Args:
        read: Makes the field's value.
        keys: What it reads, where these are keys of this component.
    """
    return dataclasses.field(repr=False, metadata={_DECLARED: _Taken(read, tuple(keys))})


def nested() -> Any:  # noqa: ANN401 - as above
    """Declare a field that holds settings of another class, whose keys stand in its place."""
    return dataclasses.field(metadata={_DECLARED: _Nested()})


@dataclass_transform(
    frozen_default=True,
    kw_only_default=True,
    field_specifiers=(key, seconds_key, shared_key, taken_from, nested),
)
class Settings:
    """The configuration of a component; immutable. A subclass of a settings class adds keys to it."""

    _fields: ClassVar[Mapping[str, _Field] | None] = None

    def __init_subclass__(cls) -> None:
        dataclasses.dataclass(frozen=True, kw_only=True)(cls)
        cls._fields = None

    @classmethod
    def config_def(cls) -> ConfigDef:
        """Return the definition of the keys, in the order of the fields."""
        return ConfigDef(*chain.from_iterable(map(_keys_of, cls._declared().values())))

    @classmethod
    def parse(cls: type[S], config: Config, classes: ClassLookup | None = None) -> S:
        """Return the settings of a configuration; keys that are not declared are left alone.

        Args:
            config: The configuration as text.
            classes: Finds classes for keys of type CLASS.

        Raises:
            ConfigError: A value is wrong or missing; the first one found.
        """
        return cls.from_parsed(cls.config_def().parse(config, classes), config)

    @classmethod
    def from_parsed(cls: type[S], parsed: Mapping[str, Any], config: Config) -> S:
        """Return the settings of parsed values, those of other components among them."""
        values: dict[str, Any] = {}
        for name, declared in cls._declared().items():
            if isinstance(declared, tuple):
                value, read = parsed[declared[0].name], declared[1]
                values[name] = value if read is None or value is None else read(value)
            elif isinstance(declared, _Taken):
                values[name] = declared.read(config)
            else:
                values[name] = declared.from_parsed(parsed, config)
        return cls(**values)

    def values_by_key(self) -> dict[str, Any]:
        """Return the values of the fields by the names of their keys, for who serves several components."""
        found: dict[str, Any] = {}
        for name, declared in self._declared().items():
            value = getattr(self, name)
            if isinstance(declared, tuple):
                found[declared[0].name] = value
            elif not isinstance(declared, _Taken):
                found.update(value.values_by_key())
        return found

    @classmethod
    def _declared(cls) -> Mapping[str, _Field]:
        """Return what each field is made of."""
        if cls._fields is None:
            hints = get_type_hints(cls)
            cls._fields = {
                field.name: _declare(field.name, hints[field.name], field.metadata[_DECLARED])
                for field in dataclasses.fields(cast("Any", cls))
            }
        return cls._fields


_Field = tuple[ConfigKey, Reader | None] | type[Settings] | _Taken
"""A key, with what makes the field's value of the parsed one; the class of nested settings; or neither."""


def _keys_of(declared: _Field) -> Iterable[ConfigKey]:
    if isinstance(declared, tuple):
        return (declared[0],)
    return declared.keys if isinstance(declared, _Taken) else declared.config_def().keys.values()


def _declare(
    field: str,
    annotation: object,
    said: _Declaration | tuple[ConfigKey, Reader | None] | _Taken | _Nested,
) -> _Field:
    if isinstance(said, tuple | _Taken):
        return said
    if isinstance(said, _Nested):
        return cast("type[Settings]", annotation)
    value_type, check, read = _of_annotation(bare := _without_none(annotation))
    if check is not None and bare is not annotation:
        check = _or_none(check)
    declared_type = said.type or value_type
    if declared_type is None:
        raise TypeError(
            f"The field {field} has the annotation {annotation}: say with type= what its key is parsed to"
        )
    checks = tuple(each for each in (check, said.check) if each is not None)
    made = ConfigKey(
        said.name or field.replace("_", "."),
        declared_type,
        said.importance,
        validator=all_of(checks) if len(checks) > 1 else next(iter(checks), None),
        **said.facts,
    )
    return made, said.read or read


def _of_annotation(annotation: object) -> tuple[Type | None, Validator | None, Reader | None]:
    """Return what an annotation says: the key's type, what it refuses, and what makes the field's value."""
    if annotation in _TYPES:
        return _TYPES[annotation], None, None
    origin = get_origin(annotation)
    if origin in _COLLECTIONS:
        return Type.LIST, None, _COLLECTIONS[origin]
    if isinstance(annotation, type) and issubclass(annotation, Enum):
        return Type.STRING, one_of(*(str(each.value) for each in annotation)), annotation
    return None, None, None


def _or_none(check: Validator) -> Validator:
    def checked(name: str, value: ConfigSetting) -> None:
        if value is not None:
            check(name, value)

    return checked


def _without_none(annotation: object) -> object:
    """Return the other side of `X | None`, and any other annotation as it is."""
    if get_origin(annotation) not in {Union, UnionType}:
        return annotation
    others = [each for each in get_args(annotation) if each is not NoneType]
    return others[0] if len(others) == 1 else annotation
