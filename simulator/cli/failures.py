"""Errors as one line on stderr and an exit code: the only home of exit codes.

0 fine; 1 an expectation, a check or a comparison failed; 2 usage or invalid input; 3 environment:
a missing file, socket or database. A command whose check failed ends with
`context.exit(CHECK_FAILED)` after it has printed its findings.
"""

from __future__ import annotations

import traceback
from contextlib import suppress
from typing import Final

import click

from simulator.errors import (
    ApiError,
    CheckpointError,
    ConfigError,
    HardwareError,
    HolderConflictError,
    ImportRefusedError,
    InputError,
    ObjectConflictError,
    ObjectNotFoundError,
    PluginError,
    ProfileError,
    RebindError,
    RegistrationError,
    ServerError,
    StoreError,
)
from simulator.reports.text import printable

FINE: Final = 0
CHECK_FAILED: Final = 1
INVALID: Final = 2
ENVIRONMENT: Final = 3
DEFECT: Final = 70
"""A defect of Rebind itself (EX_SOFTWARE of sysexits)."""
INTERRUPTED: Final = 130
BROKEN_PIPE: Final = 141

_EXIT_CODES: Final[tuple[tuple[type[RebindError], int], ...]] = (
    (HolderConflictError, CHECK_FAILED),
    (ImportRefusedError, CHECK_FAILED),
    (ObjectConflictError, CHECK_FAILED),
    (ObjectNotFoundError, INVALID),
    (StoreError, ENVIRONMENT),
    (PluginError, ENVIRONMENT),
    (ApiError, ENVIRONMENT),
    (ServerError, ENVIRONMENT),
    (HardwareError, ENVIRONMENT),
    (ConfigError, INVALID),
    (RegistrationError, INVALID),
    (CheckpointError, INVALID),
    (InputError, INVALID),
)
"""The first row that matches counts, so a narrower class stands above a wider one."""


class EnvironmentProblem(RebindError):  # noqa: N818 - it is no error of the tree, only its form
    """Something outside the program is missing or in the way."""


def report(error: Exception, *, debug: bool) -> int:
    """Tell the user on stderr what ended a command, and return the exit code."""
    if isinstance(error, click.exceptions.NoArgsIsHelpError):
        error.show()
        return INVALID
    if debug:
        traceback.print_exception(error)
    with suppress(OSError):
        # Where stderr cannot be written, the exit code still tells.
        click.echo(f"{error_line(error)}{_more(error)}", err=True)
    return exit_code(error)


def exit_code(error: BaseException) -> int:
    """Return the exit code for an error that ended a command."""
    if isinstance(error, click.ClickException):
        return INVALID if isinstance(error, click.UsageError) else error.exit_code
    if isinstance(error, OSError | EnvironmentProblem):
        return ENVIRONMENT
    if isinstance(error, RebindError):
        return next((code for kind, code in _EXIT_CODES if isinstance(error, kind)), INVALID)
    return DEFECT


def error_line(error: BaseException) -> str:
    """Return the one line that says what was asked, what was found and what to do."""
    return f"error: {printable(' '.join(_message(error).split()))}"


def _more(error: Exception) -> str:
    if not isinstance(error, InputError) or not error.others:
        return ""
    command = "bench list" if isinstance(error, ProfileError) else "scenario validate"
    return f"; {len(error.others)} more: rebind {command} {printable(error.path)}"


def _message(error: BaseException) -> str:
    if isinstance(error, click.UsageError):
        command = error.ctx.command_path if error.ctx else "rebind"
        message = error.format_message().removesuffix(".")
        see = " See" if message.endswith("?") else "; see"
        return f"{message}{see} `{command} --help`"
    if isinstance(error, click.ClickException):
        return error.format_message()
    if isinstance(error, OSError):
        reason = error.strerror or str(error)
        return f"{error.filename}: {reason}" if error.filename else reason
    if isinstance(error, RebindError):
        return str(error)
    return (
        f"defect in Rebind: {type(error).__name__}: {error}; "
        "run again with --debug to see where, and report it"
    )
