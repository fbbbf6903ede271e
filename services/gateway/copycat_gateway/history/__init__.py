"""The past of a connector: put together from what the services kept of it."""
