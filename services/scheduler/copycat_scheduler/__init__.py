"""The scheduler service: worker leases and assignments."""
