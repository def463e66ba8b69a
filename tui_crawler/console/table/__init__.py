"""The table widget, and what is done with the rows and columns of any table."""
