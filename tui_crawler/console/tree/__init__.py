"""The site of an origin as a tree of path prefixes."""
