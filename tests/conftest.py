"""What every test may ask for."""

from hypothesis import HealthCheck, settings

# A test proves behaviour, not speed: an example may take as long as a busy machine makes it.
settings.register_profile(
    "behaviour", settings.default, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("behaviour")

pytest_plugins = ["copycat_testkit.kafka"]
