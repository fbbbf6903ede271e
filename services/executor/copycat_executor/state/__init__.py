"""What this worker should run (the feed) and what it runs (the board)."""
