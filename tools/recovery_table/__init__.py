"""What each failure costs: time until the status is true and records flow again, and what others notice."""
