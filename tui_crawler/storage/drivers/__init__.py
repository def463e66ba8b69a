"""What SQLite and PostgreSQL do differently, made one: SQL text, connections, and errors."""
