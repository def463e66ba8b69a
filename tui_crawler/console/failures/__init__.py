"""View 2: failed pages in groups, and the way to put them back."""
