"""All n of tests/storage/test_faults.py, which samples them; run by hand: `python -m tests.storage.every_fault`."""

from __future__ import annotations

import asyncio
import logging
import tempfile
from pathlib import Path

from tests.storage.test_faults import run_once, stored_attempts
from tests.storage.whole import assert_whole


async def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        _, _, calls = await run_once(Path(folder) / "count.db", 0)
        for fails in range(1, calls + 1):
            path = Path(folder) / f"{fails}.db"
            told, _, _ = await run_once(path, fails)
            assert stored_attempts(path) == told, fails
            assert_whole(path)
            again, more, _ = await run_once(path, 0)
            assert (more, stored_attempts(path)) == (0, told + again), fails
            assert_whole(path)
    print(f"each of {calls} calls failed once, and nothing was lost")


if __name__ == "__main__":
    logging.disable()
    asyncio.run(main())
