"""The scheduler, faked."""
