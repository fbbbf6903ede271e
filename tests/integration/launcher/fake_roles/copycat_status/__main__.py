"""`python -m copycat_status worker.properties`, faked."""

from fake_role import run

run("status")
