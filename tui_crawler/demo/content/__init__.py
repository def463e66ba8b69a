"""The words of the demo web: one module per site, pure functions of the site's surroundings."""
