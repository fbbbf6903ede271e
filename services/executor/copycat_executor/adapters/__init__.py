"""The executor's ties to the world: services, hosts, the process of the connectors."""
