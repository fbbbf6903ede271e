"""`python -m copycat_scheduler worker.properties`, faked."""

from fake_role import run

run("scheduler")
