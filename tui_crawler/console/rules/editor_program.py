"""The operator's own editor on a text, while the console is away from the terminal."""

import shlex
import signal
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

_TERMINAL = 0
"""The descriptor that the console reads keys from."""


@dataclass(frozen=True, slots=True)
class EditedText:
    """A text as an editor left it, or the `problem` with the editor (raw text)."""

    text: str = ""
    problem: str = ""


def editor_program(environment: Mapping[str, str]) -> str:
    """Return the command line of the editor that the environment names; empty when it names none."""
    return environment.get("VISUAL", "").strip() or environment.get("EDITOR", "").strip()


def edited_text(text: str, program: str) -> EditedText:
    """Return a text as the editor leaves it. Blocking; raises nothing, so that the console gets its terminal back.

    The file is in a folder that no other user can read.
    """
    try:
        with TemporaryDirectory(prefix="tui-crawler-") as folder:
            path = Path(folder, "rules.yaml")
            path.write_text(text, encoding="utf-8")
            with _terminal_kept():
                status = subprocess.run([*shlex.split(program), str(path)], check=False).returncode  # noqa: S603  the operator's own
            if status:
                return EditedText(problem=f"{program} ended with status {status}")
            return EditedText(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        return EditedText(problem=f"{program}: {getattr(error, 'strerror', None) or error}")


@contextmanager
def _terminal_kept() -> Iterator[None]:
    """Restore the modes of the terminal, whatever the editor does to them; ctrl+c is the editor's meanwhile."""
    import termios  # noqa: PLC0415  Windows has none, nor a console that can be suspended

    modes = None
    with suppress(termios.error):
        modes = termios.tcgetattr(_TERMINAL)
    before = signal.signal(signal.SIGINT, lambda *_: None)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        if modes is not None:
            termios.tcsetattr(_TERMINAL, termios.TCSANOW, modes)
