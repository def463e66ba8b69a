"""View 3: every known page in one list."""
