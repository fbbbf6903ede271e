"""What the status service knows and decides; pure."""
