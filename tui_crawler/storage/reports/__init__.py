"""What is read of a crawl by console, command line and export: one module per subject."""
