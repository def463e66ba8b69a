"""Pages that a worker has claimed and not settled, as they are shown."""

from tui_crawler.domain.records.operator_view import LimboView
from tui_crawler.text import shown
from tui_crawler.text.cells import Present, Styled
from tui_crawler.text.columns import Column, Relation
from tui_crawler.text.format import ABSENT, duration

_LONG_MS = 60_000


def _age(value: int, _page: LimboView, _present: Present) -> Styled:
    return Styled(duration(value), "warning" if value >= _LONG_MS else "active")


LIMBO: Relation[LimboView] = Relation(
    key=lambda page: (page.job, page.url),
    nothing="no page is claimed",
    columns=(
        Column("age", "CLAIMED FOR", _age, 11, 0, "right", 6, "FOR", value=lambda page: page.age_ms),
        Column("worker", "WORKER", shown.plain("muted", ABSENT), 10, 2, min_width=6),
        Column("job", "JOB", shown.plain("muted"), 10, 3),
        Column("url", "URL", shown.plain(), None, 0, min_width=20, kind="place"),
    ),
    source=lambda _: None,
    text=("age", "worker", Column("job", "JOB", shown.plain(none=ABSENT)), "url"),
    json="url origin job worker claimed_at age_ms",
)
