"""What this worker sends to other services until they have it: statuses, progress, active topics."""
