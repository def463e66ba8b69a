"""View 6: exit codes, jobs, ledgers, workers."""
