"""Decide, append, fold, watch: the event log shared by the event-sourced services."""
