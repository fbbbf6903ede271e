"""The status service: connector and task statuses and active topics."""
