"""View 7: jobs, and the ledgers."""
