"""The penalty box: order, keys, fairness; and its invariants under any sequence of calls."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tui_crawler.domain.crawl.scheduler import PenaltyBox


def taken(box, now):
    released = box.take(now)
    return released.origin if released else None


def test_released_in_order_of_release():
    box = PenaltyBox(8)
    box.put("b", "b", 200)
    box.put("a", "a", 100)
    assert taken(box, 99) is None
    assert box.next_release(99) == 100
    assert taken(box, 300) == "a"
    assert taken(box, 300) == "b"
    assert taken(box, 300) is None


def test_released_ones_take_turns_least_recently_served_first():
    box = PenaltyBox(1)
    for name in "abc":
        box.put(name, name, 0)
    order = []
    for now in range(9):
        released = box.take(now)
        order.append(released.origin)
        box.hand_back(released.key, now)
        box.put(released.origin, released.key, now)
    assert order == list("abcabcabc")


def test_a_key_serves_one_at_a_time_and_keeps_its_gap():
    box = PenaltyBox(8)
    box.put("a", "host", 0)
    box.put("b", "host", 0)
    first = box.take(0)
    assert box.take(0) is None
    assert box.next_release(0) is None
    box.hand_back("host", 1000)
    assert box.take(999) is None
    assert box.next_release(5) == 1000
    assert {first.origin, taken(box, 1000)} == {"a", "b"}


def test_max_in_flight_bounds_the_turns():
    box = PenaltyBox(2)
    for name in "abc":
        box.put(name, name, 0)
    assert [taken(box, 0) for _ in range(3)] == ["a", "b", None]
    box.hand_back("a", 0)
    assert taken(box, 0) == "c"


def test_removed_and_replaced_places_are_void():
    box = PenaltyBox(2)
    box.put("a", "a", 0)
    box.put("a", "a", 500)
    assert taken(box, 100) is None
    assert "a" in box
    box.remove("a")
    assert "a" not in box
    assert taken(box, 1000) is None
    assert box.next_release(1000) is None


def test_a_held_key_waits_and_a_hold_never_shortens():
    box = PenaltyBox(2)
    box.put("a", "a", 0)
    box.hold("a", 700)
    box.hold("a", 300)
    assert taken(box, 699) is None
    assert taken(box, 700) == "a"


STEP = st.tuples(
    st.sampled_from(["put", "take", "back", "remove", "hold", "tick"]), st.integers(0, 5), st.integers(0, 50)
)


@given(st.integers(1, 3), st.lists(STEP, max_size=80))
def test_never_two_under_a_key_never_before_its_gap(max_in_flight, steps):
    box, now = PenaltyBox(max_in_flight), 0
    busy: dict[str, str] = {}
    gap: dict[str, int] = {}
    ready: dict[str, int] = {}
    for what, n, t in steps:
        origin, key = f"o{n}", f"k{n % 3}"
        if what == "put" and origin not in busy.values():
            box.put(origin, key, now + t)
            ready[origin] = now + t
        elif what == "take":
            released = box.take(now)
            if released is None:
                free = [
                    o
                    for o, at in ready.items()
                    if at <= now and f"k{int(o[1]) % 3}" not in busy and gap.get(f"k{int(o[1]) % 3}", 0) <= now
                ]
                assert len(busy) >= max_in_flight or not free
                continue
            assert released.key not in busy
            assert gap.get(released.key, 0) <= now
            assert ready.pop(released.origin) <= now
            busy[released.key] = released.origin
            assert len(busy) <= max_in_flight
        elif what == "back" and key in busy:
            del busy[key]
            box.hand_back(key, now + t)
            gap[key] = max(gap.get(key, 0), now + t)
        elif what == "remove":
            box.remove(origin)
            ready.pop(origin, None)
        elif what == "hold":
            box.hold(key, now + t)
            gap[key] = max(gap.get(key, 0), now + t)
        else:
            now += t
        upcoming = box.next_release(now)
        assert upcoming is None or len(busy) < max_in_flight


def test_of_many_keys_that_come_together_the_first_begin_at_once_the_others_one_by_one():
    box = PenaltyBox(1000)
    names = [str(number) for number in range(300)]
    for name in names:
        box.begin(name, 7_000)
        box.put(name, name, 7_000)
    begun = {}
    for now in range(7_000, 9_000):
        while released := box.take(now):
            begun[released.key] = now
    assert [begun[name] for name in names] == [7_000] * 100 + [7_000 + 5 * n for n in range(1, 201)]


def test_another_origin_under_a_known_key_waits_for_nobody():
    box = PenaltyBox(8)
    for number in range(300):
        box.begin("host", 0)
        box.put(str(number), "host", 0)
    assert taken(box, 0) is not None
