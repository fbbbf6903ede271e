"""The compose files, started and used as deploy/README.md says."""
