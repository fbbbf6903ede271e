"""What every test may ask for."""

pytest_plugins = ["copycat_testkit.kafka"]
