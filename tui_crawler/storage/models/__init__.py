"""The schema as peewee models: they declare tables and indices, and SQL is made from them."""

from __future__ import annotations

import peewee

from tui_crawler.storage.models.content import Body, DataBlock, Document, Fragment, Link, PageAnchors, Redirect
from tui_crawler.storage.models.log import (
    Activity,
    Attempt,
    AttemptResult,
    ExitCount,
    ExitMinute,
    Meta,
    OperatorAction,
    Request,
    Run,
    Session,
)
from tui_crawler.storage.models.queue import (
    PRIORITY,
    Dripfeed,
    Exclusion,
    Job,
    Origin,
    Page,
    Refused,
    RobotsText,
    Ruleset,
    SeenFilter,
    Segment,
    Url,
)

__all__ = [
    "MODELS",
    "PRIORITY",
    "Activity",
    "Attempt",
    "AttemptResult",
    "Body",
    "DataBlock",
    "Document",
    "Dripfeed",
    "Exclusion",
    "ExitCount",
    "ExitMinute",
    "Fragment",
    "Job",
    "Link",
    "Meta",
    "OperatorAction",
    "Origin",
    "Page",
    "PageAnchors",
    "Redirect",
    "Refused",
    "Request",
    "RobotsText",
    "Ruleset",
    "Run",
    "SeenFilter",
    "Segment",
    "Session",
    "Url",
    "create_tables",
]

MODELS: tuple[type[peewee.Model], ...] = (
    Meta,
    Url,
    Job,
    Ruleset,
    Origin,
    RobotsText,
    Page,
    Dripfeed,
    Refused,
    Exclusion,
    Segment,
    SeenFilter,
    Document,
    Body,
    Link,
    PageAnchors,
    Fragment,
    Redirect,
    DataBlock,
    Run,
    Session,
    Attempt,
    Request,
    AttemptResult,
    ExitCount,
    ExitMinute,
    Activity,
    OperatorAction,
)


def create_tables(database: peewee.Database) -> None:
    """Creates all tables and indices, in the order of their references."""
    for model in MODELS:
        peewee.SchemaManager(model, database).create_all(safe=False)
