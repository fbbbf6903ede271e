"""Functions named in configurations: `module:function`, or `/a/file.py:function`."""

from __future__ import annotations

import importlib
import inspect
import os
import sys
from collections.abc import Callable
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

from copycat_connect.config.parsing import invalid_value
from copycat_connect.config.setting import ConfigSetting
from copycat_connect.files import read_named_file

Function = Callable[[Any], Any]


class _Unusable(Exception):
    """Why a function cannot be used, and what to do about it; becomes a ConfigError."""


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
