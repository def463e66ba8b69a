"""Validators (G): whether a body is what its kind says, and the first errors with line and column."""
