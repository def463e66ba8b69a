"""How a request came by its connection: as cells of a table, and as a line. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tui_crawler.console.format import ABSENT, phase
from tui_crawler.console.table_cells import Cell, Styled

if TYPE_CHECKING:
    from tui_crawler.domain.page_view import RequestView

KEPT = "kept"
"""What stands for the steps of a connection that a request found open."""

NOT_NOTED = "?"
"""What stands for steps nobody noted: an older program made the request, or it was cancelled."""


def step_cells(request: RequestView | None) -> tuple[Cell, Cell, Cell]:
    """What name look-up, TCP connect and TLS handshake took; `-` for a step that was not taken."""
    if request is None:
        return (ABSENT, ABSENT, ABSENT)
    match request.connection_reused:
        case None:
            unknown = Styled(NOT_NOTED, "faint")
            return (unknown, unknown, unknown)
        case True:
            return (Styled(ABSENT, "faint"), Styled(KEPT, "muted"), Styled(ABSENT, "faint"))
        case False:
            return (phase(request.dns_ms), phase(request.connect_ms), phase(request.tls_ms))


def connection_words(request: RequestView) -> str:
    """The same in words: where it was connected to, and what the steps that were taken took."""
    to = f" to {request.remote_address}" if request.remote_address else ""
    if request.connection_reused is None:
        return f"connection{to}, its steps were not noted"
    if request.connection_reused:
        return f"kept connection{to}"
    steps = (("DNS", request.dns_ms), ("TCP", request.connect_ms), ("TLS", request.tls_ms))
    taken = ", ".join(f"{name} {phase(ms)}" for name, ms in steps if ms is not None)
    made = f"new connection{to}" if request.remote_address else "no connection came about"
    return f"{made}: {taken}" if taken else made
