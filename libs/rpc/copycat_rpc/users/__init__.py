"""Calls of users: who brings a token, and what it lets them call."""
