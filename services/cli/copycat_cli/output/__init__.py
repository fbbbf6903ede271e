"""What people and programs see: tables on a terminal, aligned text in a pipe, JSON."""
