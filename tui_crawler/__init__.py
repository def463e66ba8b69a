"""tui_crawler: a terminal console for polite web crawling."""

__version__ = "0.1.0"
