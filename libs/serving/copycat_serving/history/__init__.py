"""The history of connectors, as the config, status and offset services keep and report it."""
