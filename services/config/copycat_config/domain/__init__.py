"""What the config service knows and decides; pure."""
