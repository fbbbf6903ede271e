"""`python -m copycat_executor worker.properties`, faked."""

from fake_role import run

run("executor")
