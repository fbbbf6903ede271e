"""What is known against the packages that Copycat is made of, and against those in its images."""
