"""Exit codes, error lines and where the value of an option comes from (conventions §2)."""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
from pathlib import Path

import click
import pytest

from simulator.cli import failures, logs, program
from simulator.cli.shadowing import refuse_foreign_packages
from simulator.errors import (
    ConfigError,
    CorruptCheckpointError,
    HolderConflictError,
    RebindError,
    ScenarioError,
    SchemaOutOfDateError,
    StoreUnavailableError,
)
from tests.cli.running import rebind


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in [name for name in os.environ if name.startswith("REBIND_")]:
        monkeypatch.delenv(name)


@pytest.fixture
def failing(monkeypatch: pytest.MonkeyPatch) -> list[BaseException]:
    """Make `rebind version` raise what the test puts into the list."""
    errors: list[BaseException] = []

    @click.command("version")
    def fail() -> None:
        raise errors[0]

    monkeypatch.setattr("simulator.cli.commands.version.version", fail)
    return errors


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (HolderConflictError("held"), 1),
        (CorruptCheckpointError("damaged"), 2),
        (ScenarioError("bad", path="s.yaml", line=3, column=1), 2),
        (ConfigError("bad"), 2),
        (StoreUnavailableError("locked"), 3),
        (SchemaOutOfDateError("old"), 3),
        (FileNotFoundError(2, "No such file or directory", "absent.yaml"), 3),
        (RuntimeError("surprise"), 70),
        (KeyboardInterrupt(), 130),
    ],
)
def test_an_error_ends_in_one_line_and_the_code_of_its_kind(
    failing: list[BaseException], error: BaseException, code: int
) -> None:
    failing.append(error)

    finished = rebind("version")

    assert finished.code == code
    assert finished.stdout == ""
    assert finished.stderr.count("\n") == 1
    assert "Traceback" not in finished.stderr


@pytest.mark.parametrize("where", [("--debug", "version"), ("version", "--debug")])
def test_debug_shows_the_traceback_wherever_it_stands(
    failing: list[BaseException], where: tuple[str, ...]
) -> None:
    failing.append(CorruptCheckpointError("damaged"))

    finished = rebind(*where)

    assert finished.code == 2
    assert "Traceback" in finished.stderr


def test_control_characters_of_a_message_cannot_reach_the_terminal() -> None:
    line = failures.error_line(RebindError("pod \x1b[31m\x00 of \udcff"))

    assert line == "error: pod \\x1b[31m\\x00 of \\udcff"


def test_a_multi_line_message_is_still_one_line() -> None:
    assert failures.error_line(RebindError("first\n  second")) == "error: first second"


@pytest.mark.parametrize(
    "arguments",
    [["vresion"], ["version", "--colour"], ["version", "-o", "xml"], ["completion"]],
)
def test_wrong_usage_exits_2_and_names_the_help(arguments: list[str]) -> None:
    finished = rebind(*arguments)

    assert finished.code == 2
    assert finished.stderr.startswith("error: ")
    assert "--help`" in finished.stderr


def test_without_arguments_the_help_goes_to_stderr() -> None:
    finished = rebind()

    assert finished.code == 2
    assert finished.stdout == ""
    assert "Commands:" in finished.stderr


def test_flag_beats_environment_beats_file_beats_default(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "rebind.yaml").write_text(
        "apiVersion: rebind.internal/v1alpha1\nkind: Configuration\nspec: {output: yaml}\n"
    )

    from_file = rebind("version").stdout
    monkeypatch.setenv("REBIND_OUTPUT", "json")
    from_environment = rebind("version").stdout
    from_flag = rebind("version", "-o", "table").stdout

    assert from_file.startswith("apiVersion: ")
    assert json.loads(from_environment)["kind"] == "Version"
    assert from_flag.startswith("rebind ")


def test_the_configuration_of_another_folder_is_named_by_a_flag(tmp_path: Path) -> None:
    other = tmp_path / "other.yaml"
    other.write_text(
        "apiVersion: rebind.internal/v1alpha1\nkind: Configuration\nspec: {output: json}\n"
    )

    finished = rebind("--config", str(other), "version")

    assert finished.stdout.startswith("{")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "apiVersion: rebind.internal/v1alpha1\nkind: Configuration\nspec: {outptu: json}\n",
            "rebind.yaml:3:8: unknown key outptu; did you mean output?",
        ),
        (
            "apiVersion: rebind.internal/v1alpha1\nkind: Configuration\nspec: {db: a, db: b}\n",
            "rebind.yaml:3:15: key db is given twice",
        ),
        (
            "apiVersion: rebind.internal/v1alpha1\nkind: Configuration\nspec: {db: [a]}\n",
            "rebind.yaml:3:12: db takes a single value",
        ),
        (
            "apiVersion: v1\nkind: Configuration\n",
            "rebind.yaml:1:13: apiVersion is v1, expected rebind.internal/v1alpha1",
        ),
        ("kind: Configuration\n", "rebind.yaml:1:1: apiVersion is nothing, expected"),
        ("- a\n", "rebind.yaml:1:1: expected a mapping of keys to values"),
        ("a: [\n", "rebind.yaml:2:1: the configuration is not valid YAML: "),
        ("a: \x01\n", "rebind.yaml: the configuration is not valid YAML: "),
        ("[" * 5000, "rebind.yaml: the configuration is nested too deep"),
    ],
)
def test_a_bad_configuration_is_refused_with_its_place(
    tmp_path: Path, text: str, message: str
) -> None:
    (tmp_path / "rebind.yaml").write_text(text)

    finished = rebind("version")

    assert finished.code == 2
    assert message in finished.stderr


def test_a_configuration_that_is_asked_for_must_exist() -> None:
    finished = rebind("--config", "absent.yaml", "version")

    assert finished.code == 3
    assert finished.stderr == "error: absent.yaml: No such file or directory\n"


def test_a_foreign_folder_that_shadows_a_package_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop" / "__init__.py").touch()
    monkeypatch.syspath_prepend(tmp_path)

    with pytest.raises(failures.EnvironmentProblem) as caught:
        refuse_foreign_packages(("shop",))

    assert f"the folder {tmp_path / 'shop'} shadows Rebind's package `shop`" in str(caught.value)


def test_a_foreign_folder_without_init_does_no_harm(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "store").mkdir()
    monkeypatch.syspath_prepend(tmp_path)

    refuse_foreign_packages(("store",))


def test_a_closed_pipe_leaves_no_noise() -> None:
    # The reading end is closed before the program writes anything.
    reading, writing = os.pipe()
    os.close(reading)
    finished = subprocess.run(
        [sys.executable, "-m", "simulator.cli", "version"],
        cwd=Path(program.__file__).parents[2],
        stdout=writing,
        stderr=subprocess.PIPE,
        check=False,
    )
    os.close(writing)

    assert finished.returncode == 141
    assert finished.stderr == b""


def test_a_client_that_left_a_stream_is_no_error_to_tell_of(
    capsys: pytest.CaptureFixture[str],
) -> None:
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    grpc_log = logging.getLogger("grpc._cython.cygrpc")
    try:
        logs.configure(level="info", style="text")
        grpc_log.error("ExecuteBatchError raised in core by servicer method [/x/Y]")
        grpc_log.error("Unexpected [KeyError] raised by servicer method [/x/Y]")
    finally:
        root.handlers[:] = handlers
        root.setLevel(level)

    told = capsys.readouterr().err
    assert told == (
        "ERROR grpc._cython.cygrpc: Unexpected [KeyError] raised by servicer method [/x/Y]\n"
    )


def test_log_records_keep_their_fields_in_both_forms(capsys: pytest.CaptureFixture[str]) -> None:
    root = logging.getLogger()
    before, level = root.handlers[:], root.level
    try:
        logs.configure(level="info", style="json")
        logging.getLogger("node").info("Admitted", extra={"podUID": "u1"})
        logs.configure(level="info", style="text")
        logging.getLogger("node").info("Admitted", extra={"podUID": "u1"})
        logging.getLogger("node").info("Names come from outside: %s", "\x1b[31m\n")
    finally:
        root.handlers[:] = before
        root.setLevel(level)
    as_json, as_text, hostile = capsys.readouterr().err.splitlines()

    assert hostile == r"INFO node: Names come from outside: \x1b[31m\n"
    assert json.loads(as_json)["podUID"] == "u1"
    assert as_text == "INFO node: Admitted podUID=u1"


def test_every_shell_has_a_completion_script() -> None:
    for shell in ("bash", "zsh", "fish"):
        assert "_REBIND_COMPLETE" in rebind("completion", shell).stdout


def test_a_misspelt_option_is_told_with_the_one_that_was_meant() -> None:
    finished = rebind("--hlep")

    assert (finished.code, finished.stdout) == (2, "")
    assert finished.stderr.endswith("? See `rebind --help`\n")
