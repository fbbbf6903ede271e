"""What an executor should do next: pure functions over what is wanted and what runs."""
