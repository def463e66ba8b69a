"""View 5: attempts, activity and actions by time."""
