"""`python -m copycat_config worker.properties`, faked."""

from fake_role import run

run("config")
