"""Images built and containers run, on the Docker that is there or on one of our own."""
