"""The chassis of an event-sourced service: revisions, watches, health, signals."""
