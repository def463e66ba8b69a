"""What command line and console both say: numbers and times, safe text, glyphs, words for states. Pure."""
