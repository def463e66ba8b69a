"""Validators and data rules on stored bodies, in a process of low priority: a few at a time, on request.

The child is sent what it needs (pickled: it comes from us), and answers with lines of JSON: it has read hostile bytes.
Its clock is its own processor time, so that a busy machine makes it late and never gives a body up. What hangs where no
deadline is asked for ends the child (RLIMIT_CPU); the next body gets a new one. It ends with its standard input.
"""

import asyncio
import contextlib
import json
import os
import pickle
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO

import zstandard

from tui_crawler.domain.record import replace
from tui_crawler.domain.records import attempt as records
from tui_crawler.domain.records.content_kind import OTHER
from tui_crawler.domain.records.exit_code import ExitCode
from tui_crawler.domain.url import CrawlUrl, normalise
from tui_crawler.fetch.child import child_environment, child_words
from tui_crawler.fetch.extract import GRACE, PageReader, ReaderSetup

_LOW_PRIORITY = 19
_DECOMPRESSOR = zstandard.ZstdDecompressor()  # to make one takes as long as a page takes to decompress
_AT_ONCE = 8
_KNOWN = 1_000
_LONGEST_S = 3_600.0  # a body that takes no processor time either
_SPARE_CPU_S = 1
_LONGEST_ANSWER = 64 << 20


async def read_again(reader: PageReader, document: records.WaitingDocument) -> records.Reading:
    """Return what validators and data rules say of a stored document; all else in the reading is not for use."""
    url = normalise(document.url)
    if not isinstance(url, CrawlUrl):
        raise TypeError(f"not a URL: {document.url!r}")
    with _DECOMPRESSOR.stream_reader(document.packed) as stream:
        body = stream.read(min(document.size, reader.setup.limits.max_body_bytes))
    headers = (("Content-Type", f"{document.content_type}; charset={document.charset}"),)
    exchange = records.Exchange((), ExitCode.file_ingested, 200, 0, headers=headers, body=body)
    found = await reader.read(url, exchange)
    return replace(found, incomplete=("data",) if "data" in found.incomplete else ())


@dataclass(slots=True)
class SecondReader:
    """Has documents read by a child, which starts with the first. `read` may be cancelled; `close` it in the end."""

    _setup: ReaderSetup
    _child: asyncio.subprocess.Process | None = None

    async def read(self, documents: Sequence[records.WaitingDocument]) -> list[records.Reading | None]:
        """Return the result for each document, None where it ended the child. Raises OSError: no child starts."""
        found: list[records.Reading | None] = []
        at_once = _AT_ONCE
        while len(found) < len(documents):
            answers = await self._answers(documents[len(found) : len(found) + at_once])
            if not answers and at_once == 1:
                found.append(None)
            at_once = at_once if answers else 1  # one of them has ended the child: which is it?
            found += answers
        return found

    async def _answers(self, documents: Sequence[records.WaitingDocument]) -> list[records.Reading]:
        """Return what is said of the first ones, at least of one; of none where the child has ended over them."""
        child, goes_on = self._child or await self._start(), False
        try:
            goes_on, *answers = json.loads(await self._ask(child, documents))
            return [_reading(*one) for one in answers]
        except (ValueError, TypeError, ConnectionError, TimeoutError):
            goes_on = False
            return []
        finally:
            if not goes_on:
                await self.close()

    @property
    def pid(self) -> int | None:
        """The process id of the child; None while there is none."""
        return None if self._child is None else self._child.pid

    async def close(self) -> None:
        """End the child, if there is one."""
        child, self._child = self._child, None
        if child is not None:
            with contextlib.suppress(ProcessLookupError):
                child.kill()
            await child.wait()

    async def _start(self) -> asyncio.subprocess.Process:
        pipe, nothing = asyncio.subprocess.PIPE, asyncio.subprocess.DEVNULL
        self._child = child = await asyncio.create_subprocess_exec(
            *child_words(__name__),
            stdin=pipe,
            stdout=pipe,
            stderr=nothing,
            limit=_LONGEST_ANSWER,
            start_new_session=True,
            env=child_environment(),
        )
        try:
            is_ready = await self._ask(child, self._setup)
        except ConnectionError:
            is_ready = b""
        if not is_ready:
            raise OSError("the process that validates does not start")
        return child

    async def _ask(self, child: asyncio.subprocess.Process, question: object) -> bytes:
        if child.stdin is None or child.stdout is None:
            raise ConnectionError
        child.stdin.write(pickle.dumps(question))
        async with asyncio.timeout(_LONGEST_S):
            await child.stdin.drain()
            return await child.stdout.readline()


def _reading(validation: Any, data: Any, incomplete: Any, message: Any) -> records.Reading:
    """An answer, as `_as_json` made it. Raises TypeError, ValueError for what is none."""
    if validation is not None:
        kind, errors = validation
        validation = records.Validation(str(kind), tuple(records.ValidationError(*error) for error in errors))
    values, cut = tuple(records.DataValue(*one) for one in data), tuple(map(str, incomplete))
    code = ExitCode.file_ingested
    return records.Reading(OTHER, code, validation=validation, data=values, incomplete=cut, message=str(message))


def main() -> None:
    """The child: a setup, then documents, until standard input ends."""
    with contextlib.suppress(OSError, AttributeError):  # not every system has priorities
        os.nice(_LOW_PRIORITY)
    asyncio.run(_serve(sys.stdin.buffer, sys.stdout.buffer))


async def _serve(questions: BinaryIO, answers: BinaryIO) -> None:
    setup: ReaderSetup = pickle.load(questions)  # noqa: S301  our parent made it
    limits = replace(  # links are known, and nobody waits for this loop: only what cannot be stopped needs a thread
        setup.limits,
        max_links=1,
        check_fragments=False,
        parse_inline_bytes=setup.limits.max_body_bytes,
        parse_inline_tags=setup.limits.max_body_bytes,
        validate_inline_ms=setup.limits.validate_deadline_ms,
    )
    reader = PageReader(limits, setup.product_token, time.process_time, is_known=True, **setup.tasks)
    asyncio.get_running_loop().time = time.process_time  # type: ignore[method-assign]
    cpu_s = GRACE * (limits.validate_deadline_ms + limits.data_deadline_ms) // 1000 + _SPARE_CPU_S
    answers.write(b"ready\n")
    answers.flush()
    is_fresh, has_rules = True, bool(setup.tasks["data_rules"])
    known: dict[tuple[str, ...], list[Any]] = {}  # the same body is read once, unless rules go by the URL
    with contextlib.suppress(EOFError):
        while is_fresh:
            said: list[Any] = []
            _limit_cpu(cpu_s)
            for document in pickle.load(questions):  # noqa: S301  as above
                _limit_cpu(cpu_s)
                key = (document.sha256, document.content_type, document.charset)
                if has_rules or key not in known:
                    known = known if len(known) < _KNOWN and not has_rules else {}
                    known[key] = _as_json(await read_again(reader, document))
                said.append(known[key])
                for thread in threading.enumerate()[1:]:
                    thread.join(0.1)
                if threading.active_count() > 1:  # one hangs: a new process goes on
                    is_fresh = False
                    break
            answers.write(json.dumps([is_fresh, *said]).encode() + b"\n")
            answers.flush()


def _as_json(found: records.Reading) -> list[Any]:
    checked = found.validation
    errors = [[one.line, one.column, one.message] for one in checked.errors] if checked else []
    return [
        [checked.type, errors] if checked else None,
        [[one.name, one.type, one.place, one.value] for one in found.data],
        found.incomplete,
        found.message,
    ]


def _limit_cpu(seconds: int) -> None:
    """So much processor time more, then the system ends this process, wherever it hangs."""
    try:
        import resource  # noqa: PLC0415  only POSIX has it
    except ImportError:
        return
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # nobody wants to keep what it held
    hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
    wanted = int(time.process_time()) + seconds + 1
    resource.setrlimit(resource.RLIMIT_CPU, (wanted if hard < 0 else min(wanted, hard), hard))


if __name__ == "__main__":
    main()
    os._exit(0)  # a thread that hangs is not waited for
