"""The built-in demo web: ten loopback origins that show the product without a network."""
