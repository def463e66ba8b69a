"""The schema as peewee models: they declare tables and indices, and SQL is made from them."""

from __future__ import annotations

import peewee

from tui_crawler.storage.models.content import Body, DataBlock, Document, Link, Redirect
from tui_crawler.storage.models.log import (
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
    Exclusion,
    Job,
    Origin,
    Page,
    Refused,
    RobotsText,
    Ruleset,
    Segment,
    Url,
)

__all__ = [
    "MODELS",
    "PRIORITY",
    "Attempt",
    "AttemptResult",
    "Body",
    "DataBlock",
    "Document",
    "Exclusion",
    "ExitCount",
    "ExitMinute",
    "Job",
    "Link",
    "Meta",
    "OperatorAction",
    "Origin",
    "Page",
    "Redirect",
    "Refused",
    "Request",
    "RobotsText",
    "Ruleset",
    "Run",
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
    Refused,
    Exclusion,
    Segment,
    Document,
    Body,
    Link,
    Redirect,
    DataBlock,
    Run,
    Session,
    Attempt,
    Request,
    AttemptResult,
    ExitCount,
    ExitMinute,
    OperatorAction,
)


def create_tables(database: peewee.Database) -> None:
    """Creates all tables and indices, in the order of their references."""
    for model in MODELS:
        peewee.SchemaManager(model, database).create_all(safe=False)
