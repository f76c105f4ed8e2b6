"""The root command: finds commands, reads settings, and turns errors into exit codes.

A command's module is imported only when the command is used, so that `rebind version` does not
load the engine. To add a command, write `simulator/cli/commands/NAME.py` and add a line to
`COMMANDS`.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Final

import click
from click.shell_completion import shell_complete
from typing_extensions import override

from simulator.cli import failures, logs
from simulator.cli.examples import example
from simulator.cli.interrupts import follows_interrupt, interrupts_kept
from simulator.cli.settings import (
    KIND,
    LOG_SETTINGS,
    SETTINGS,
    Settings,
    environment_variable,
    file_key,
    read_configuration,
)
from simulator.cli.shadowing import refuse_foreign_packages
from simulator.config import API_VERSION

COMMANDS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "api": "simulator.cli.commands.api.command:api",
        "apply": "simulator.cli.commands.apply:apply",
        "bench": "simulator.cli.commands.bench.command:bench",
        "checkpoint": "simulator.cli.commands.checkpoint.command:checkpoint",
        "compare-versions": "simulator.cli.commands.compare_versions:compare_versions",
        "completion": "simulator.cli.commands.completion:completion",
        "conform": "simulator.cli.commands.conform:conform",
        "db": "simulator.cli.commands.db:db",
        "delete": "simulator.cli.commands.delete:delete",
        "describe": "simulator.cli.commands.describe.command:describe",
        "diagnose": "simulator.cli.commands.diagnose.command:diagnose",
        "doctor": "simulator.cli.commands.doctor.command:doctor",
        "events": "simulator.cli.commands.events:events",
        "exec": "simulator.cli.commands.exec:exec_",
        "explain": "simulator.cli.commands.explain:explain",
        "explore": "simulator.cli.commands.explore.command:explore",
        "get": "simulator.cli.commands.get.command:get",
        "history": "simulator.cli.commands.history:history",
        "kubelet-versions": "simulator.cli.commands.kubelet_versions:kubelet_versions",
        "migrate": "simulator.cli.commands.migrate.command:migrate",
        "plugin": "simulator.cli.commands.plugin.command:plugin",
        "reboot": "simulator.cli.commands.reboot:reboot",
        "replay": "simulator.cli.commands.replay:replay",
        "restart": "simulator.cli.commands.restart:restart",
        "scenario": "simulator.cli.commands.scenario:scenario",
        "serve": "simulator.cli.commands.serve.command:serve",
        "version": "simulator.cli.commands.version:version",
        "who-holds": "simulator.cli.commands.who_holds:who_holds",
    }
)
"""Command to `module:attribute`."""

_COMPLETION_VARIABLE: Final = "_REBIND_COMPLETE"


def settings_of(context: click.Context) -> Settings:
    """Return the settings of this invocation."""
    return context.find_root().ensure_object(Settings)


class _Program(click.Group):
    """The root group: commands are loaded when they are asked for."""

    @override
    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    @override
    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module, _, attribute = COMMANDS[cmd_name].partition(":")
        command = getattr(importlib.import_module(module), attribute)
        if not isinstance(command, click.Command):
            reason = f"{COMMANDS[cmd_name]} is not a click command"
            raise TypeError(reason)
        return adopt(command, settings_of(ctx).configured)


def adopt(command: click.Command, configured: Mapping[str, str]) -> click.Command:
    """Let a command and its sub-commands see environment, configuration and the log flags."""
    command.context_settings["default_map"] = {
        setting.replace("-", "_"): value for setting, value in configured.items()
    }
    known = {name for parameter in command.params for name in parameter.opts}
    command.params += [option for option in _log_options() if option.opts[0] not in known]
    _read_environment(command)
    if isinstance(command, click.Group):
        for child in command.commands.values():
            adopt(child, configured)
    return command


def _read_environment(command: click.Command) -> None:
    for option in command.params:
        setting = max((name.lstrip("-") for name in option.opts), key=len)
        if isinstance(option, click.Option) and setting in SETTINGS and option.expose_value:
            option.envvar = environment_variable(setting)


def _set_debug(context: click.Context, _: click.Parameter, value: bool) -> None:  # noqa: FBT001 - click's signature
    settings_of(context).debug |= value


def _set_log_level(context: click.Context, _: click.Parameter, value: str | None) -> None:
    settings = settings_of(context)
    settings.log_level = value or settings.log_level
    logs.configure(level=settings.log_level, style=settings.log_format)


def _set_log_format(context: click.Context, _: click.Parameter, value: str | None) -> None:
    settings = settings_of(context)
    settings.log_format = value or settings.log_format
    logs.configure(level=settings.log_level, style=settings.log_format)


def _read_config(context: click.Context, _: click.Parameter, value: Path | None) -> None:
    configured = read_configuration(value)
    settings_of(context).configured = {
        setting: text for setting, text in configured.items() if setting not in LOG_SETTINGS
    }
    context.default_map = {name.replace("-", "_"): text for name, text in configured.items()}


def _log_options() -> list[click.Option]:
    """Return the flags that are taken before the command and, unseen in its help, after it."""
    return [
        click.Option(
            ["--log-level"],
            type=click.Choice(logs.LEVELS),
            expose_value=False,
            callback=_set_log_level,
            hidden=True,
            help="Least severe log messages on stderr  [default: warning]",
        ),
        click.Option(
            ["--log-format"],
            type=click.Choice(logs.FORMATS),
            expose_value=False,
            callback=_set_log_format,
            hidden=True,
            help="Form of log messages  [default: text]",
        ),
        click.Option(
            ["--debug"],
            is_flag=True,
            expose_value=False,
            callback=_set_debug,
            hidden=True,
            help="Show the traceback of an error.",
        ),
    ]


def _help() -> str:
    """Say what it is, and where the values of options come from."""
    keys = ", ".join(file_key(setting) for setting in SETTINGS)
    return f"""Run a kubelet's device manager without a kubelet.

    Options that many commands share have a variable of the environment too, such as REBIND_DB or
    REBIND_KUBELET_VERSION, and a key in the configuration file, under `spec`, beside `apiVersion:
    {API_VERSION}` and `kind: {KIND}`: {keys}.
    """


def build_program() -> click.Group:
    """Return the root command."""
    config = click.Option(
        ["--config"],
        type=click.Path(path_type=Path),
        metavar="FILE",
        envvar="REBIND_CONFIG",
        is_eager=True,
        expose_value=False,
        callback=_read_config,
        help="Configuration file  [default: ./rebind.yaml, if there is one]",
    )
    log_options = _log_options()
    for option, setting in zip(log_options, LOG_SETTINGS, strict=True):
        option.hidden = False
        option.envvar = environment_variable(setting)
    return _Program(
        "rebind",
        params=[config, *log_options],
        help=_help(),
        epilog=example(
            "rebind replay reboot-pod-before-plugin",
            "rebind checkpoint show kubelet_internal_checkpoint",
        ),
        context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    )


def run(arguments: Sequence[str]) -> int:
    """Run one command line and return its exit code."""
    program = build_program()
    if instruction := os.environ.get(_COMPLETION_VARIABLE):
        return shell_complete(program, {}, "rebind", _COMPLETION_VARIABLE, instruction)
    settings = Settings()
    try:
        refuse_foreign_packages()
        with interrupts_kept():
            code = _invoke(program, arguments, settings)
            sys.stdout.flush()
    except (KeyboardInterrupt, click.Abort):
        click.echo("interrupted", err=True)
        return failures.INTERRUPTED
    except BrokenPipeError:
        _discard_what_cannot_be_written()
        return failures.BROKEN_PIPE
    except Exception as error:  # noqa: BLE001 - the program's boundary: nothing leaves as a traceback
        if follows_interrupt(error):
            click.echo("interrupted", err=True)
            return failures.INTERRUPTED
        code = failures.report(error, debug=settings.debug)
        _discard_what_cannot_be_written()
    return code


def _invoke(program: click.Group, arguments: Sequence[str], settings: Settings) -> int:
    try:
        with program.make_context("rebind", list(arguments), obj=settings) as context:
            program.invoke(context)
    except click.exceptions.Exit as end:
        return end.exit_code
    return failures.FINE


def _discard_what_cannot_be_written() -> None:
    """Keep what is still buffered from failing again at exit, which would change the exit code."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
