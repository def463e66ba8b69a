"""What is read of the database, and when: the poll loop, the snapshot, windows over long lists."""
