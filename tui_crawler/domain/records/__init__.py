"""The records that layers hand to each other: pages, attempts, exit codes, commands, and the rows that are shown.

They hold values and what follows from these values alone."""
