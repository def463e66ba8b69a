"""An edit of the rules looked at before its transaction: what it does to many refused pages is judged while the writer
is free, on a connection that only reads."""

from __future__ import annotations

import contextlib
from pathlib import Path

from tui_crawler.domain.command import ApplyRules
from tui_crawler.domain.run import StorageFailure
from tui_crawler.storage import rulesets
from tui_crawler.storage.claim import Claim
from tui_crawler.storage.database import connect_readonly
from tui_crawler.storage.driver import DATABASE_ERRORS, connection_of
from tui_crawler.storage.open_settings import OpenSettings
from tui_crawler.storage.transaction import Texts, Transaction


def foresee(path: Path, settings: OpenSettings, claim: Claim, command: ApplyRules) -> rulesets.Foresight | None:
    """What the edit does to the pages that are refused now. None where it cannot be made, or they cannot be read: its
    transaction says why, or judges them itself. Blocking; any thread may call it."""
    with contextlib.suppress(ValueError, StorageFailure, *DATABASE_ERRORS):
        database = connect_readonly(path, settings)
        try:
            return rulesets.foresee(Transaction(connection_of(database), Texts(database), 0), claim, command)
        finally:
            database.close()
    return None
