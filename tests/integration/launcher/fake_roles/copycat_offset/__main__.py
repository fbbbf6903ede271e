"""`python -m copycat_offset worker.properties`, faked."""

from fake_role import run

run("offset")
