"""View 4: the rules in force, their versions, and drafts of others."""
