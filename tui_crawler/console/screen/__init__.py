"""What every screen of the console is made of, and how one is left for another."""
