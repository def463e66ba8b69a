"""Exports: the rows and bodies of a database, handed to the format that was asked for."""

from __future__ import annotations

import re
from base64 import b64encode
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tui_crawler.domain.history.run_diff import text_of
from tui_crawler.domain.records.failure import BadKeptConfig
from tui_crawler.export.text_rows import write_csv, write_jsonl
from tui_crawler.storage.reports.export import Narrowing, StoredBody

if TYPE_CHECKING:
    from tui_crawler.export.output import Output
    from tui_crawler.storage.reports.reports import Reports


@dataclass(frozen=True, slots=True)
class ExportPlan:
    """What is exported: `bodies`, or the rows that `Reports.export_windows` knows; as jsonl, csv or parquet, or (of
    bodies) as jsonl or warc. `columns` empty: all. `bom`: CSV begins with a byte order mark. Of an archive: `filename`
    is its name in itself, `gzip` compresses each record, `index` gets the lines of the index."""

    what: str
    form: str
    columns: tuple[str, ...] = ()
    narrowing: Narrowing = field(default_factory=Narrowing)
    filename: str = ""
    gzip: bool = True
    index: list[str] = field(default_factory=list)
    bom: bool = False


def write_export(reports: Reports, plan: ExportPlan, output: Output) -> int:
    """Write what `plan` asks for; return how many rows or bodies. Raises ValueError for a column, an exit code or a
    format that does not exist there; CannotWrite, ReaderGone, StorageFailure."""
    if plan.what == "bodies" and plan.form == "warc":
        from tui_crawler.export.warc import Archive, write_warc  # noqa: PLC0415  # the other formats need no warcio
        from tui_crawler.wiring.origin_settings import stored_config, waived_rules  # noqa: PLC0415  # the same

        run = reports.run()
        user_agent, crawl = (run.user_agent, run.config_name) if run else ("", "")
        try:
            waived = waived_rules(stored_config(reports.config_text(), run))
        except BadKeptConfig as failure:
            waived = f"unknown: {failure}"
        archive = Archive(plan.filename, user_agent, crawl, plan.gzip, waived)
        return write_warc(reports.export_bodies(plan.narrowing), archive, output, plan.index)
    if plan.what == "bodies" and plan.form == "jsonl":
        stored = (
            one
            for one in reports.export_bodies(plan.narrowing)
            if one.sha256 and (one.page_id or one.http_status is None)
        )
        return write_jsonl(([body_row(one)] for one in stored), BODY_COLUMNS, output)
    windows = reports.export_windows(plan.what, plan.columns, plan.narrowing)
    columns = plan.columns or reports.export_columns(plan.what)
    if plan.form == "jsonl":
        return write_jsonl(windows, columns, output)
    if plan.form == "csv":
        return write_csv(windows, columns, output, bom=plan.bom)
    if plan.form == "parquet":
        from tui_crawler.export.parquet import write_parquet  # noqa: PLC0415  # pyarrow takes 0.3 s and 50 MB

        return write_parquet(windows, columns, output)
    raise ValueError(f"{plan.what} are not exported as {plan.form}")


BODY_COLUMNS = ("url", "content_type", "charset", "http_status", "crawled_at", "sha256", "text", "base64")
_AS_TEXT = re.compile(r"text/|application/(.+\+)?(json|xml|javascript)\b", re.IGNORECASE)


def body_row(body: StoredBody) -> tuple[str | int | None, ...]:
    """A stored body with `BODY_COLUMNS`: as text where it is of a kind of text, else in Base64."""
    is_text = bool(body.charset or _AS_TEXT.match(body.content_type))
    content = (
        (text_of(body.body, body.charset).removeprefix("\ufeff"), None)
        if is_text
        else (None, b64encode(body.body).decode())
    )
    about = (body.url, body.content_type, body.charset, body.http_status, body.stored_at, body.sha256)
    return (*about, *content)
