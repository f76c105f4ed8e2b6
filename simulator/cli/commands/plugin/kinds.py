"""A command for each kind of plugin, with the flags that its options make.

The table of kinds and options is `plugins.kinds`; a flag's value stays text until the plugin is
built, so that it is read and refused in one place.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any

import click
from typing_extensions import override

from plugins.kinds import KINDS, Kind, kind_of
from plugins.options import Option
from simulator.cli.program import adopt, settings_of


class KindCommands(click.Group):
    """A group with one command for each kind."""

    @abstractmethod
    def make(self, kind: Kind) -> click.Command:
        """Make the command of a kind."""

    @override
    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(KINDS)

    @override
    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        command = self.make(kind_of(cmd_name)) if cmd_name in KINDS else self.named(cmd_name)
        return None if command is None else adopt(command, settings_of(ctx).configured)

    def named(self, name: str) -> click.Command | None:
        """Return the command of a name that is no kind's; None for none."""
        del name
        return None


def flags_of(kind: Kind) -> list[click.Parameter]:
    """Return the flags for all options of a kind."""
    return [_flag(option) for option in kind.all_options]


def pairs_of(kind: Kind, values: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return the options of a kind and their texts, from the values of its flags."""
    pairs: list[tuple[str, str]] = []
    for option in kind.all_options:
        value = values[_key(option)]
        if option.is_repeated:
            pairs += [(option.name, text) for text in value]
        elif option.is_flag:
            pairs.append((option.name, "true" if value else "false"))
        elif value is not None:
            pairs.append((option.name, value))
    return pairs


def help_of(kind: Kind) -> str:
    """Return the help of a kind, its terms one a line."""
    paragraphs = [f"{kind.summary}.", kind.text]
    if kind.terms:
        width = max(len(term) for term, _ in kind.terms)
        lines = [f"{term:{width}}  {meaning}" for term, meaning in kind.terms]
        paragraphs.append("\n".join(["\b", *lines]))
    return "\n\n".join(paragraphs)


def _key(option: Option[Any]) -> str:
    return option.name.replace("-", "_")


def _flag(option: Option[Any]) -> click.Option:
    if option.is_flag:
        return click.Option(
            [f"--{option.name}", _key(option)], is_flag=True, default=False, help=f"{option.help}."
        )
    default: str | list[str] | None = option.default
    if option.is_repeated:
        default = [] if option.default is None else [option.default]
    return click.Option(
        [f"--{option.name}", _key(option)],
        type=str,
        default=default,
        multiple=option.is_repeated,
        show_default=option.default is not None,
        metavar=option.metavar,
        help=f"{option.help}.",
    )
