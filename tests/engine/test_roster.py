"""What the roster counts along is what looking at every origin would say."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests.engine.crawls import PLAN, Crawling
from tests.support.simulated_web import linked_site
from tui_crawler.domain.crawl.delay import Pace
from tui_crawler.domain.crawl.origin import CrawlSettings, OriginState
from tui_crawler.domain.moment import HELD
from tui_crawler.domain.records.status_words import FinishReason
from tui_crawler.domain.rules.admission import Admission, Limits, Scope
from tui_crawler.domain.rules.policy import EMPTY
from tui_crawler.engine.clock import run_virtual
from tui_crawler.engine.origin_table import EngineSettings, OriginTable

_names = st.sampled_from([f"http://o{number}.test" for number in range(5)])
_states = st.builds(
    OriginState,
    origin=_names,
    patience=st.just(1),
    pace=st.just(Pace(1)),
    finished=st.none() | st.sampled_from(FinishReason),
    asleep_until=st.sampled_from([0, 5, HELD]),
    external=st.booleans(),
)


@given(states=st.lists(_states), least=st.integers(0, 5))
def test_counts_along(states: list[OriginState], least: int) -> None:
    settings = EngineSettings(PLAN, lambda _: CrawlSettings(), lambda origin, _: origin, min_origins=least)
    table = OriginTable(settings, Admission(EMPTY, Scope(frozenset()), Limits()))
    for state in states:
        table.update(state)
    now = list(table.states.values())
    assert table.all_finished() == all(one.finished is not None for one in now)
    assert table.all_stopped() == (bool(now) and all(one.finished is FinishReason.operator for one in now))
    crawled = [one for one in now if not one.external]
    left = sum(one.finished is None for one in crawled)
    assert table.are_few() == (left < least and left < len(crawled))
    idle = {one.origin for one in now if one.finished is FinishReason.exhausted or one.asleep_until}
    assert set(table.idle) == idle


class Watched(dict[str, OriginState]):
    """States that count how often all of them are looked at."""

    looks = 0

    def __iter__(self):
        self.looks += 1
        return super().__iter__()

    def values(self):
        self.looks += 1
        return super().values()

    def items(self):
        self.looks += 1
        return super().items()


def test_turns_look_at_no_other_origins() -> None:
    """However many turns a crawl takes, all its origins are looked at a few times: at its start and its end."""
    looks = []
    for pages in (2, 20):
        crawling = Crawling([f"http://o{number}.test" for number in range(30)], linked_site(pages))
        states = crawling.engine.table.states = Watched()

        async def main(crawling: Crawling = crawling) -> None:
            await crawling.run()

        run_virtual(main())
        assert len(crawling.web.pages()) == 30 * pages
        looks.append(states.looks)
    assert looks[0] == looks[1] <= 5
