"""The metrics of every service on one page."""
