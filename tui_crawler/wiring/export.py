"""Exports: the rows and bodies of a database, handed to the format that was asked for."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tui_crawler.export.text_rows import columns_of, write_csv, write_jsonl
from tui_crawler.storage.reports.export import Narrowing

if TYPE_CHECKING:
    from tui_crawler.export.output import Output
    from tui_crawler.storage.reports.reports import Reports


@dataclass(frozen=True, slots=True)
class ExportPlan:
    """What is exported: `bodies`, or the rows that `Reports.export_windows` knows; and as what, jsonl, csv, parquet or
    warc (of bodies).

    `columns` empty: all. `origin` and `exit_code` are names, empty for all; `since` is epoch ms. `filename` is what
    an archive says it is called, `gzip`: its records are compressed, each by itself, `index` gets its lines.
    """

    what: str
    form: str
    columns: tuple[str, ...] = ()
    origin: str = ""
    exit_code: str = ""
    since: int | None = None
    filename: str = ""
    gzip: bool = True
    index: list[str] = field(default_factory=list)


def write_export(reports: Reports, plan: ExportPlan, output: Output) -> int:
    """Writes what `plan` asks for; answers how many rows or bodies.

    Raises ValueError for a column, an exit code or a format that does not exist there; CannotWrite, ReaderGone,
    StorageFailure.
    """
    narrowing = Narrowing(plan.origin, plan.exit_code, plan.since)
    if plan.what == "bodies" and plan.form == "warc":
        return _export_archive(reports, plan, narrowing, output)
    windows = reports.export_windows(plan.what, plan.columns, narrowing)
    columns = columns_of(plan.columns or reports.export_columns(plan.what))
    match plan.form:
        case "jsonl":
            return write_jsonl(windows, columns, output)
        case "csv":
            return write_csv(windows, columns, output)
        case "parquet":
            from tui_crawler.export.parquet import write_parquet  # noqa: PLC0415  # pyarrow takes 0.3 s and 50 MB

            return write_parquet(windows, columns, output)
        case _:
            raise ValueError(f"{plan.what} are not exported as {plan.form}")


def _export_archive(reports: Reports, plan: ExportPlan, narrowing: Narrowing, output: Output) -> int:
    from tui_crawler.export.warc import Archive, write_warc  # noqa: PLC0415  # the other formats need no warcio

    run = reports.run()
    user_agent, crawl = (run.user_agent, run.config_name) if run else ("", "")
    archive = Archive(plan.filename, user_agent, crawl, gzip=plan.gzip)
    return write_warc(reports.export_bodies(narrowing), archive, output, plan.index)
