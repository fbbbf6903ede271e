"""The settings of the status service."""
