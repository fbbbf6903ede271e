"""What this worker should run (`feed`), what it runs (`runs`), and what follows from both."""
