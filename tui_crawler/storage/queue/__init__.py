"""Segments of offline crawls, the seen index, and the scan of stored documents for new URLs.

See docs/behaviour.md, "Offline mode"."""
