"""`python -m copycat_gateway worker.properties`, faked."""

from fake_role import run

run("gateway")
