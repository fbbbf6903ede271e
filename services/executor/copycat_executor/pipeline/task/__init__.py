"""What each running task has besides records: orders to it, reports of it, its clock and its counts."""
