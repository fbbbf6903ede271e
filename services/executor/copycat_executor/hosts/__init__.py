"""Task hosts seen from outside: launched, given tasks, their control streams, ended."""
