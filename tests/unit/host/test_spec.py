"""Launch specs."""

from copycat_executor.taskhost.spec import HostSpec, HostTls

TLS = HostTls("certificate", "the private key", "authorities", "copycat")


def test_a_spec_survives_its_journey() -> None:
    spec = HostSpec("h", "127.0.0.1:9", "secret", "INFO", "w:1")

    assert HostSpec.from_json(spec.to_json()) == spec
    encrypted = HostSpec("h", "127.0.0.1:9", "secret", tls=TLS)
    assert HostSpec.from_json(encrypted.to_json()) == encrypted


def test_the_token_is_not_printed() -> None:
    assert "secret" not in repr(HostSpec("h", "a:1", "secret"))
    assert "the private key" not in repr(HostSpec("h", "a:1", "secret", tls=TLS))
