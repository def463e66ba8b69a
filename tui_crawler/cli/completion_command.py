"""`completion`: prints the script by which a shell completes the words of a command line."""

import argparse

from tui_crawler.cli.options import PROGRAM, CommandSet
from tui_crawler.cli.printer import Printer
from tui_crawler.cli.problem import ExitStatus

SHELLS = ("bash", "zsh", "fish")


def declare(commands: CommandSet) -> None:
    parser = commands.add(
        "completion",
        "print the script that lets a shell complete words",
        execute,
        "Prints a script for the shell. bash, in ~/.bashrc: source <(tui-crawler completion bash). zsh, in ~/.zshrc "
        "after compinit: source <(tui-crawler completion zsh). fish: tui-crawler completion fish > "
        "~/.config/fish/completions/tui-crawler.fish.",
        examples=('eval "$(tui-crawler completion bash)"',),
        json="",
        database=False,
    )
    parser.add_argument("shell", metavar="SHELL", choices=SHELLS, help=", ".join(SHELLS))


def execute(arguments: argparse.Namespace, printer: Printer) -> int:
    from argcomplete.shell_integration import shellcode

    printer.lines(shellcode([PROGRAM], use_defaults=False, shell=arguments.shell).splitlines())
    return ExitStatus.ok
