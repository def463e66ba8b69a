"""View 8: who crawls, on which machine, with how much work."""
