"""What a crawl was: coverage, audits, timelines, replays and comparisons of runs, from what is stored.

Nothing here decides what is requested. These modules read records and fold them; screens, commands and reports
show the result."""
