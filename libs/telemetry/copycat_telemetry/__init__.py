"""JSON logs, traces and metrics of the services."""
