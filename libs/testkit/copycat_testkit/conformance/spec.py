"""What the spec of every plugin must be like."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod

import pytest
from copycat_connect.config import ConfigValue
from copycat_connect.plugin import Plugins, PluginSpec, load_plugins, render_page
from copycat_connect.plugin.converters import CONVERTER_TYPE
from copycat_connect.validation import ConfigInfo, WorkerRules, plugin_keys, validate_connector

_PLACEHOLDER = re.compile(r"\$\{[^}]*\}")


class SpecConformance(ABC):
    """The part of the suites that needs no running task."""

    @abstractmethod
    def spec(self) -> PluginSpec:
        """Return the plugin under test."""

    @pytest.fixture
    def plugins(self) -> Plugins:
        """All installed plugins and the one under test."""
        return Plugins([self.spec(), *load_plugins().all()])

    def test_the_spec_says_what_the_plugin_does(self) -> None:
        """Summary and version are there, and every key has a doc that ends like a sentence."""
        spec = self.spec()
        assert spec.summary.endswith(".")
        assert spec.version
        undocumented = [key.name for key in spec.config.keys.values() if not key.doc.endswith(".")]
        assert undocumented == []

    def test_the_page_shows_every_key(self) -> None:
        """The generated page has the class name and each key, or that it is one of many with its prefix."""
        spec = self.spec()
        page = render_page(spec)
        assert spec.class_name in page
        missing = [key for key in spec.config.keys if f"`{key}`" not in page]
        assert [key for key in missing if f"`{key.partition('.')[0]}.*`" not in page] == []

    def test_every_key_can_be_rendered(self) -> None:
        """REST can list the keys, the framework's included."""
        for key in plugin_keys(self.spec()):
            info = ConfigInfo(key.name, key, ConfigValue(key.name))
            assert info.default_text is None or isinstance(info.default_text, str)

    def test_connectors_say_what_they_guarantee(self) -> None:
        """A connector's guarantees are part of its spec, and it has tasks."""
        spec = self.spec()
        if spec.kind.is_connector:
            assert spec.guarantees.endswith(".")
            assert spec.task_factory is not None
            assert spec.task_class_name

    def test_there_is_an_example_and_all_of_them_validate(self, plugins: Plugins) -> None:
        """An example is a configuration that works as it stands, but for its name and for placeholders."""
        spec = self.spec()
        settable = spec.config.keys.keys() - {CONVERTER_TYPE}
        assert spec.examples or not settable
        for title, example in spec.examples.items():
            if spec.kind.is_connector:
                looked_up = {key: _PLACEHOLDER.sub("looked-up", value) for key, value in example.items()}
                config = {"name": "example", "connector.class": spec.class_name, **looked_up}
                found = validate_connector(config, spec, plugins, WorkerRules.of({}), spec.make()).infos
                problems = [text for info in found for text in info.value.errors]
            else:
                problems = [
                    text
                    for value in spec.config.validate({CONVERTER_TYPE: "value", **example})
                    for text in value.errors
                ]
            assert (title, problems) == (title, [])

    def test_it_is_found_by_its_class_name(self, plugins: Plugins) -> None:
        """The registry hands it out."""
        assert plugins.find(self.spec().class_name, (self.spec().kind,)) == self.spec()
