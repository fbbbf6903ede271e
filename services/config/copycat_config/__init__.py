"""The config service: connector configs, target states and task configs."""
