"""Every command explains itself, and its examples work as they stand."""

from __future__ import annotations

import os
import shlex
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from simulator.cli.examples import examples_of
from simulator.cli.failures import CHECK_FAILED, FINE
from simulator.cli.program import build_program
from tests.cli.laboratory import furnish, furnish_server, wants_server
from tests.cli.running import rebind, rebind_process
from tests.plugins.nvml.stub import give_gpus
from tests.server.running import running_server, short_folder


def commands(command: click.Command, context: click.Context) -> Iterator[tuple[str, click.Command]]:
    """Iterate over a command and everything below it, with the words that call each."""
    yield context.command_path, command
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            child = command.get_command(context, name)
            assert child is not None
            yield from commands(child, click.Context(child, parent=context, info_name=name))


def is_endless(example: str) -> bool:
    """Tell whether an example goes on until it is stopped (`test_serve`)."""
    return example.startswith(("rebind serve ", "rebind api serve"))


PROGRAM = build_program()
ALL = dict(commands(PROGRAM, click.Context(PROGRAM, info_name="rebind")))
EXAMPLES = sorted({example for command in ALL.values() for example in examples_of(command.epilog)})


@pytest.fixture
def _laboratory(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    folder = Path(tempfile.mkdtemp(prefix="rb"))  # A short path, as sockets need it.
    monkeypatch.chdir(folder)
    for name in [name for name in os.environ if name.startswith("REBIND_")]:
        monkeypatch.delenv(name)
    furnish(folder)
    monkeypatch.setenv("PATH", f"{folder / 'bin'}:{os.environ['PATH']}")
    yield
    shutil.rmtree(folder)


@pytest.mark.parametrize("path", ALL)
def test_every_command_has_help_that_ends_with_an_example_of_itself(path: str) -> None:
    finished = rebind(*path.split()[1:], "--help")

    assert finished.code == 0
    assert ALL[path].help
    examples = examples_of(ALL[path].epilog)
    assert examples
    assert all(example.startswith(path) for example in examples)
    assert finished.stdout.rstrip().endswith(examples[-1])


def test_the_keys_of_the_configuration_file_are_told() -> None:
    text = " ".join(rebind("--help").stdout.split())

    assert "`apiVersion: rebind.internal/v1alpha1` and `kind: Configuration`: logLevel, " in text
    for key in ("db", "kubeletVersion", "maxSize", "rootDir", "seed"):
        assert f" {key}" in text


@pytest.mark.parametrize("path", ALL)
def test_every_option_says_what_it_is_for(path: str) -> None:
    silent = [
        parameter.name
        for parameter in ALL[path].params
        if isinstance(parameter, click.Option) and not parameter.help
    ]

    assert silent == []


@pytest.fixture(scope="module")
def server() -> Iterator[Path]:
    """The root directory of a server for the examples that want one."""
    with short_folder() as root, running_server(root):
        yield root


@pytest.mark.usefixtures("_laboratory")
@pytest.mark.parametrize("example", [each for each in EXAMPLES if not is_endless(each)])
def test_the_examples_of_the_help_work(
    example: str, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    program, *arguments = shlex.split(example)
    if arguments[0] == "plugin" and arguments[2] == "nvml":
        give_gpus(Path.cwd())
    if wants_server(" ".join(arguments)):
        monkeypatch.setenv("REBIND_ROOT_DIR", str(request.getfixturevalue("server")))
        furnish_server()
    finished = (rebind_process if arguments[0] == "exec" else rebind)(*arguments)
    if "cannot be made private" in finished.stderr:
        pytest.skip(finished.stderr)

    assert program == "rebind"
    assert finished.code == (CHECK_FAILED if arguments[:2] == ["checkpoint", "diff"] else FINE)
    assert finished.stderr == "" or finished.code == FINE
