"""One URL, whole; and why any URL is (not) crawled."""
