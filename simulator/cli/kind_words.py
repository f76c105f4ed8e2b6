"""The words for kinds on the command line: `pods`, `pod`, `po`, as kubectl takes them.

The one home of them: whatever a command calls its kinds, every word of the field finds them, and
`pod/trainer` is a pod and its name.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import click
from typing_extensions import override

_WORDS: Final = (
    ("pods", "pod", "po"),
    ("nodes", "node", "no"),
    ("devices", "device"),
    ("bindings", "binding", "devicebindings", "devicebinding", "devb"),
    ("plugins", "plugin"),
    ("events", "event", "ev"),
)
_PLURALS: Final = {word: words[0] for words in _WORDS for word in words}


def kind_among(word: str, known: Iterable[str]) -> str | None:
    """Return which of the known kinds a word means; None for none of them.

    Args:
        word: As it was written; a group after a dot, as of `devicebindings.rebind.internal`, is
            left out.
        known: The kinds, each by any of its words.
    """
    plain = word.lower().partition(".")[0]
    meant = _PLURALS.get(plain, plain)
    return next((each for each in known if _PLURALS.get(each, each) == meant), None)


class KindGroup(click.Group):
    """A command with a sub-command for each kind."""

    @override
    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Find the sub-command by any word for its kind."""
        return super().get_command(ctx, kind_among(cmd_name, self.commands) or cmd_name)

    @override
    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the sub-command; `pod/trainer` is one with its first argument.

        Raises:
            click.UsageError: There is none of that name.
        """
        kind, slash, name = args[0].partition("/")
        if self.get_command(ctx, kind) is None and not kind.startswith("-"):
            shown = ", ".join(sorted(self.commands))
            reason = f"{kind!r} is no kind that is shown here; there are: {shown}"
            raise click.UsageError(reason, ctx)
        if slash:
            args = [kind, *([name] if name else []), *args[1:]]
        _, command, rest = super().resolve_command(ctx, args)
        return (None if command is None else command.name), command, rest
