from __future__ import annotations

from collections.abc import Collection, Mapping

from copycat_connect.config import HIGH, PASSWORD, STRING, ConfigDef, ConfigKey, Password
from copycat_connect.config.placeholders import Placeholders
from copycat_connect.config.provider import ConfigProvider
from copycat_connect.config.setting import ConfigValue
from copycat_connect.plugin.spec import PluginKind, PluginSpec
from copycat_connect.validation.infos import main_infos
from copycat_executor.connectorhost.plugin_answers import validation
from copycat_executor.connectorhost.secrets import Resolved

SECRET = "correct horse"
SPEC = PluginSpec("c", PluginKind.SINK, "1", "Does nothing.", ConfigDef(), object)


class Vault(ConfigProvider):
    def get(self, path: str, keys: Collection[str]) -> Mapping[str, str]:
        return {key: {"db": SECRET, "pin": "1", "code": "k7x"}[key] for key in keys}


def resolved(**config: str | None) -> Resolved:
    return Resolved.of(config, Placeholders({"vault": Vault()}))


def test_author_code_gets_values_and_no_nulls() -> None:
    assert resolved(password="${vault:db}", other=None).given() == {"password": SECRET}


def test_a_task_value_that_is_the_connectors_secret_is_published_as_its_placeholder() -> None:
    config = resolved(password="${vault:db}")
    assert config.restore([{"password": SECRET}]) == [{"password": "${vault:db}"}]


def test_a_secret_under_another_key_is_a_placeholder_again_too() -> None:
    config = resolved(password="${vault:db}")
    assert config.restore([{"connection.password": SECRET}]) == [{"connection.password": "${vault:db}"}]


def test_a_value_too_common_to_tell_a_secret_by_is_left_under_other_keys() -> None:
    config = resolved(pin="${vault:pin}")
    assert config.restore([{"pin": "1", "index": "1"}]) == [{"pin": "${vault:pin}", "index": "1"}]


def test_an_own_value_of_a_task_stays() -> None:
    assert resolved(password="${vault:db}").restore([{"password": "mine"}]) == [{"password": "mine"}]


def test_texts_that_leave_the_process_hold_no_secret() -> None:
    config = resolved(password="${vault:db}")
    assert config.scrub(f"cannot log in with {SECRET}!") == "cannot log in with ${vault:db}!"


def test_a_validated_value_that_a_provider_gave_is_shown_as_it_was_written_and_nothing_with_it() -> None:
    config = resolved(user="x-${vault:db}", password="${vault:db}", plain="p", unknown="${no:p}")
    keys = {"user": STRING, "password": PASSWORD, "plain": STRING, "unknown": PASSWORD}
    infos = main_infos(
        "c",
        {name: ConfigKey(name, kind, HIGH) for name, kind in keys.items()},
        [
            ConfigValue("user", f"x-{SECRET}", [f"x-{SECRET}"], [f"x-{SECRET} is nobody"]),
            ConfigValue("password", Password(SECRET)),
            ConfigValue("plain", "p", ["q"]),
            ConfigValue("unknown", Password("${no:p}")),
        ],
        (),
    )
    user, password, plain, unknown = validation(infos, SPEC, config).configs
    assert (user.value, user.recommended, user.errors) == ("x-${vault:db}", (), ("x-${vault:db} is nobody",))
    assert (password.value, plain.value, plain.recommended) == ("${vault:db}", "p", ("q",))
    assert unknown.value == "[hidden]"


def test_a_secret_within_a_longer_value_of_a_task_is_published_as_its_placeholder() -> None:
    restored = resolved(password="${vault:db}").restore([{"url": f"jdbc:x?password={SECRET}&y"}])
    assert restored == [{"url": "jdbc:x?password=${vault:db}&y"}]


def test_what_validation_says_holds_no_secret_however_short() -> None:
    config = resolved(code="${vault:code}", pin="${vault:pin}", other="o")
    said = "Invalid value k7x for configuration code"
    assert config.scrub_refusal(said, "code") == "Invalid value ${vault:code} for configuration code"
    assert config.scrub_refusal("'ak7xb' is wrong", "code") == "'a${vault:code}b' is wrong"
    assert config.scrub_refusal("1 is not in 10", "pin") == "${vault:pin} is not in 10"
    assert config.scrub_refusal("code k7x and pin 1") == "code ${vault:code} and pin ${vault:pin}"


def test_no_text_of_a_configuration_shows_it() -> None:
    assert SECRET not in repr(resolved(password="${vault:db}"))
