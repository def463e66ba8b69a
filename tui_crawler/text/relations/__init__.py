"""What is shown of a crawl as relations, one file each: columns, help, JSON. Console and command line show the same."""
