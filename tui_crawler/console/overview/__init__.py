"""View 1: all origins, the selected one, the events."""
