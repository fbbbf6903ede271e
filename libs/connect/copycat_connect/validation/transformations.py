"""What transformations themselves have to say about their settings, once each key is fine."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, MutableMapping, Sequence
from typing import Final, NoReturn

from copycat_connect.cluster import Config
from copycat_connect.config.framework_names import TRANSFORMS
from copycat_connect.config.values import ConfigValue
from copycat_connect.errors import ConfigError
from copycat_connect.plugin.contexts import TransformationContext
from copycat_connect.plugin.loading import reason_of
from copycat_connect.plugin.registry import Plugins
from copycat_connect.plugin.spec import PluginKind
from copycat_connect.plugin.transformations import Transformation

NO_QUERIES: Final = (
    "Spark reads the records of this connector, in partitions that have no query engine: leave this "
    "transformation out, or read with another connector"
)


class NoQueries:
    """Refuses queries where Spark reads the records; a `QueryEngine`, and the context that has it."""

    @property
    def queries(self) -> NoQueries:
        """This object, whose `prepare` and `run` refuse."""
        return self

    def prepare(self, sql: str, columns: str) -> NoReturn:
        """Refuse.

        Raises:
            ConfigError: Always.
        """
        del sql, columns
        raise ConfigError(NO_QUERIES)

    def run(self, sql: str, columns: str, batch: bytes) -> NoReturn:
        """Refuse; raises as `prepare` does."""
        del batch
        self.prepare(sql, columns)


def check_transformations(
    raw: Config, found: MutableMapping[str, ConfigValue], plugins: Plugins, context: TransformationContext
) -> None:
    """Add the errors that transformations find to what was found about their keys."""
    aliases = found[TRANSFORMS].value
    checked, given = sorted(found), sorted(raw)
    for alias in dict.fromkeys(aliases if isinstance(aliases, list) else ()):
        prefix = f"{TRANSFORMS}.{alias}."
        spec = plugins.get((raw.get(f"{prefix}type") or "").strip(), (PluginKind.TRANSFORMATION,))
        if spec is None or any(found[name].errors for name in _under(prefix, checked)):
            continue
        settings = {key.removeprefix(prefix): raw[key] for key in _under(prefix, given)}
        try:
            transformation: Transformation = spec.make()
        except BaseException as error:  # the top of a call into a plugin: whatever it raises is its answer
            found[f"{prefix}type"].errors.append(
                f"Failed to load class {spec.class_name}: {reason_of(error)}"
            )
            continue
        transformation.initialize(context)
        for value in transformation.validate(settings):
            found[prefix + value.name].errors.extend(value.errors)


def _under(prefix: str, names: Sequence[str]) -> Iterator[str]:
    """Yield the names that begin with a prefix; they are sorted, so that no alias looks at all names."""
    for place in range(bisect_left(names, prefix), len(names)):
        if not names[place].startswith(prefix):
            return
        yield names[place]
