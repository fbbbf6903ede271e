"""PythonFunction: a function of the user's takes each record, key or value and returns what follows."""

from __future__ import annotations

import importlib
import inspect
import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any, TypeVar

from copycat_connect.cluster import Config
from copycat_connect.config import HIGH, MEDIUM, STRING, ConfigDef
from copycat_connect.config.parsing import invalid_value
from copycat_connect.config.setting import ConfigSetting
from copycat_connect.config.settings import Settings, key
from copycat_connect.data import ConnectRecord, ConnectValue, Schema
from copycat_connect.errors import DataError
from copycat_connect.files import read_named_file
from copycat_connect.plugin import PluginKind, PluginSpec, Transformation
from copycat_connect.plugin.transformations import Remaining, Values

from copycat_plugins.transforms.schema_ddl import parse_ddl, schema_ddl
from copycat_plugins.transforms.sides import SIDES, Side, ValueSide
from copycat_plugins.transforms.typed import SCHEMAS, Fit, fit_to, schema_of
from copycat_plugins.version import VERSION

R = TypeVar("R", bound=ConnectRecord)
_FUNCTION = "function"
CLASS_NAME = f"{__name__}.PythonFunction"
_GUARANTEES = (
    "Called once for each record, in order; again for the records of a batch in which one failed. None drops "
    "the record. What is raised fails the record at stage TRANSFORMATION; RetriableError is tried again."
)
Function = Callable[[Any], Any]


class PythonFunctionSettings(Settings):
    """Which function is called, and what its results are."""

    function: str = key(
        HIGH,
        name=_FUNCTION,
        doc="The function: module:function, or /path/to/file.py:function, a file in a folder of the worker's "
        "Python path. It is called with one argument.",
    )
    result_schema: Schema | None = key(
        MEDIUM,
        type=STRING,
        default=None,
        check=schema_ddl,
        read=parse_ddl,
        doc="Schema of the results in Spark's DDL, such as id BIGINT NOT NULL, tags ARRAY<STRING>. By "
        "default a result has the schema of its Python type, and a dict or list is schemaless.",
    )


class PythonFunction(Transformation):
    """Calls the function with whole records."""

    def configure(self, config: Config) -> None:
        """Import the function that the configuration names."""
        settings = PythonFunctionSettings.parse(config)
        self._function: Function = load_function(_FUNCTION, settings.function)
        self._schema = settings.result_schema
        self._fit: Fit | None = None if self._schema is None else fit_to(self._schema)

    def apply(self, record: R) -> R | None:
        """Call the function with the record and return what it makes of it."""
        return self.apply_in_place(record.private())

    def apply_in_place(self, record: R) -> R | None:
        """Return the function's record, often the one it was given."""
        result: R | None = self._function(record)
        if result is None:
            return None
        if type(result) is not type(record):
            found = type(result).__qualname__
            raise DataError(
                f"The function returned {found}; it returns the record it was given, changed or copied by "
                "record.replace(...), or None to drop it"
            )
        if self._fit is not None:
            result.value_schema, result.value = self._schema, self._fit(result.value)
        return result


class SidedPythonFunction(PythonFunction):
    """Calls the function with keys or values."""

    def __init__(self, side: Side) -> None:
        self._side = side
        # False once results of several types were seen.
        self._columnar = isinstance(side, ValueSide)

    def apply_in_place(self, record: R) -> R | None:
        """Put the function's result into the record."""
        result = self._function(self._side.value(record))
        if result is None:
            return None
        if self._fit is None:
            self._side.set(record, schema_of(result), result)
        else:
            self._side.set(record, self._schema, self._fit(result))
        return record

    def apply_to_values(self, schema: Schema | None, values: list[ConnectValue]) -> Values | Remaining | None:
        """Call the function with every value."""
        del schema
        if not self._columnar:
            return None
        results = list(map(self._function, values))
        places = [place for place, result in enumerate(results) if result is not None]
        if len(places) < len(results):
            results = [results[place] for place in places]
            return Remaining(*self._typed(results), places)
        return self._typed(results)

    def _typed(self, results: list[ConnectValue]) -> Values:
        if self._fit is not None:
            return self._schema, list(map(self._fit, results))
        kinds = set(map(type, results))
        if len(kinds) == 1 and (kind := kinds.pop()) in SCHEMAS:
            return SCHEMAS[kind], results
        schemas = [schema_of(result) for result in results]
        first = schemas[0] if schemas else None
        if any(each is not first and each != first for each in schemas):
            self._columnar = False
            raise DataError("The results of a batch have several types: they go one by one from here on")
        return first, results


def load_function(name: str, text: str) -> Function:
    """Return the function that the value of a key names; runs its module, or its file anew each time.

    Raises:
        ConfigError: It is missing, or cannot be called with one argument.
    """
    try:
        return _load(text)
    except _Unusable as error:
        raise invalid_value(name, text, str(error)) from error


def loadable_function(name: str, value: ConfigSetting) -> None:
    """Accept names of functions that can be loaded here; null passes."""
    if value is not None:
        load_function(name, value)


class _Unusable(Exception):
    """Why a function cannot be used, and what to do about it; becomes a ConfigError."""


def _load(text: str) -> Function:
    source, colon, path = text.rpartition(":")
    if not (source and colon and path):
        raise _Unusable("Write module:function, or /path/to/file.py:function")
    members = _run_file(Path(source)) if source.endswith(".py") else vars(_import(source))
    found: Any = members.get(path.partition(".")[0])
    for step in path.split(".")[1:]:
        found = getattr(found, step, None)
    if found is None:
        functions = sorted(each for each, value in members.items() if inspect.isfunction(value))
        raise _Unusable(f"{source} has no {path}; its functions: {', '.join(functions) or 'none'}")
    _check_callable(found, path)
    return found  # type: ignore[no-any-return]  # whatever it is, it was found callable


def _import(module: str) -> ModuleType:
    if module not in sys.modules:
        importlib.invalidate_caches()  # it may have been installed a moment ago
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name is not None and (module == error.name or module.startswith(f"{error.name}.")):
            raise _Unusable(
                f"There is no module {error.name}; install it where the worker runs, or correct the name"
            ) from error
        raise _Unusable(
            f"Module {module} needs {error.name}, which is not installed where the worker runs"
        ) from error
    except (Exception, SystemExit) as error:  # the top of a call into a plugin: it may raise anything
        raise _failure(module, error) from error


def _run_file(file: Path) -> dict[str, Any]:
    folders = [Path(entry) for entry in sys.path if entry and os.path.isabs(entry)]  # noqa: PTH117  # text
    real = file.resolve()
    if not file.is_absolute() or not any(real.is_relative_to(folder.resolve()) for folder in folders):
        raise _Unusable(
            "A file needs an absolute path in a folder that modules are imported from; add its folder to the "
            "worker's PYTHONPATH"
        )
    members = {"__name__": file.stem, "__file__": str(file)}
    try:
        exec(_compiled(file), members)  # noqa: S102  # what the transformation is for
    except (Exception, SystemExit) as error:  # the top of a call into a plugin: it may raise anything
        raise _failure(str(file), error) from error
    return members


def _compiled(file: Path) -> CodeType:
    try:
        return compile(read_named_file(file), str(file), "exec", dont_inherit=True)
    except OSError as error:
        raise _Unusable(
            f"{file} cannot be read ({error.strerror}); it must be there on every worker"
        ) from error


def _failure(source: str, error: BaseException) -> _Unusable:
    if isinstance(error, _Unusable):
        return error
    if isinstance(error, SyntaxError):
        place = (
            f"line {error.lineno}"
            if error.filename in (source, None)
            else f"{error.filename}, line {error.lineno}"
        )
        return _Unusable(f"{source} has a syntax error in {place}: {error.msg}")
    return _Unusable(f"{source} fails when it is loaded: {type(error).__qualname__}: {error}")


def _check_callable(found: object, path: str) -> None:
    if not callable(found):
        raise _Unusable(f"{path} is a {type(found).__qualname__} and not a function")
    if inspect.iscoroutinefunction(found) or inspect.isgeneratorfunction(found):
        raise _Unusable(f"{path} is asynchronous or a generator; it must return its result")
    try:
        signature = inspect.signature(found)
    except ValueError:
        return  # built in, without a signature to look at
    try:
        signature.bind(None)
    except TypeError as error:
        raise _Unusable(
            f"{path}{signature} cannot be called with one argument; write def {path}(value)"
        ) from error


def _shown() -> ConfigDef:
    """Return the keys as they are validated, which loads the function; parsing leaves it to `configure`.

    A second time would run a file anew.
    """
    keys = PythonFunctionSettings.config_def().keys
    return ConfigDef(*{**keys, _FUNCTION: replace(keys[_FUNCTION], validator=loadable_function)}.values())


_CONFIG = _shown()


def _spec(
    suffix: str,
    summary: str,
    factory: Callable[[], PythonFunction],
    examples: Mapping[str, Mapping[str, str]],
) -> PluginSpec:
    return PluginSpec(
        class_name=CLASS_NAME + suffix,
        kind=PluginKind.TRANSFORMATION,
        version=VERSION,
        summary=summary,
        config=_CONFIG,
        factory=factory,
        guarantees=_GUARANTEES,
        examples=examples,
    )


def _sided_spec(suffix: str, side: Side) -> PluginSpec:
    part = suffix.lower()
    return _spec(
        f"${suffix}",
        f"Calls a Python function with each {part}; its result takes its place, None drops the record.",
        partial(SidedPythonFunction, side),
        {
            "Text as JSON": {"function": "json:loads"},
            "With a schema": {"function": "json:loads", "result.schema": "id BIGINT NOT NULL, name STRING"},
        },
    )


PLUGINS = (
    _spec(
        "",
        "Calls a Python function with each record; it returns the record, or None to drop it.",
        PythonFunction,
        {"Any function that can be imported": {"function": "copy:copy"}},
    ),
    *(_sided_spec(suffix, side) for suffix, side in SIDES.items()),
)
