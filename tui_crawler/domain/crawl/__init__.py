"""The crawl loop of one origin, and the scheduler over all of them.

`turn` decides the next step from state and time, `outcome` folds the result back, `scheduler` says whose turn it is.
Time and results come in as values."""
