"""Who crawls, as the owners of sites see it (CRAWL.md section 5): what is sent where nobody has said. Pure."""

from __future__ import annotations

UNCONFIGURED_USER_AGENT = "tui-crawler-unconfigured-ua"
NOBODY = f"nobody can tell whose crawler this is: requests are sent as {UNCONFIGURED_USER_AGENT}"
"""What is wrong with it, in words."""

WARNING = f"sites see {UNCONFIGURED_USER_AGENT}: set user_agent, so that they can tell whose crawler it is"
"""The same with what to do, where there is one line for it."""
