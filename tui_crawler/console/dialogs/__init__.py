"""Screens over a screen: questions, help, search, the command line."""
