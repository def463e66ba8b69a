"""What one step of a crawl writes: pages, attempts, documents, links, counters, jobs and rulesets.

`settle` stores an attempt in one transaction, `candidates` reads the pages for a fill. All of it runs in the writer."""
