"""One origin: its state, todo list, attempts, robots.txt."""
