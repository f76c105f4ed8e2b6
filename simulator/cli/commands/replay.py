"""`rebind replay`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import click
from click.core import ParameterSource

from scenarios.builtin import builtin_names, find_file
from scenarios.files.parameters import check_settings, read_settings
from scenarios.files.phrases import nearest
from scenarios.loading.loaded import LoadedScenario, load_scenarios
from scenarios.loading.matrix import Combination, Narrowing
from scenarios.running.replay import StartRun
from scenarios.running.replay import replay as replay_scenario
from scenarios.schema.scenario import SEED_MAX
from scenarios.schema.variants import Persistence, parse_persistence
from scenarios.selectors import Selector
from simulator.assembly.worlds import played_live, simulated
from simulator.cli import terminal
from simulator.cli.checkpoint_files import FileName
from simulator.cli.examples import example
from simulator.cli.failures import CHECK_FAILED
from simulator.cli.html import replay_html, require_html
from simulator.cli.lists import Listed
from simulator.cli.output_files import write_whole
from simulator.cli.own_state import OwnFiles, load_own, own_files, own_state_options
from simulator.cli.progress import progress_bar
from simulator.cli.recordings import is_recording, replay_recording
from simulator.cli.scenario_options import selector_option, settings_option, versions_option
from simulator.cli.version_warnings import warn_of_unknown
from simulator.core.behavior import Readmission
from simulator.core.switches import behavior_for
from simulator.reports.documents import json_report
from simulator.reports.junit import junit
from simulator.reports.results import ScenarioResult
from simulator.reports.table import table_report
from simulator.reports.text import printable
from simulator.reports.trace import trace
from simulator.reports.transcript import transcript


@dataclass(frozen=True, slots=True)
class Choice:
    """Which scenarios to run, and how."""

    names: tuple[str, ...]
    narrowing: Narrowing
    seed: int | None
    settings: dict[str, str]
    live: bool


@dataclass(frozen=True, slots=True)
class _Output:
    """In which form results are written, and into which file; None for stdout."""

    form: str
    file: Path | None


def _readmission(text: str) -> Readmission:
    names = [policy.value for policy in Readmission]
    if text not in names:
        reason = f'"{text}" is not a readmission policy{nearest(text, names)}'
        raise ValueError(reason)
    return Readmission(text)


@click.command(
    epilog=example(
        "rebind replay --all -l area=init -o junit",
        "rebind replay reboot-pod-before-plugin -o html --output-file report.html",
        "rebind replay reboot-pod-before-plugin --kubelet-version 1.27.2 --persistence database",
        "rebind replay pod-deletion --kubelet-version 1.36.2 --live -o transcript",
        "rebind replay --checkpoint kubelet_internal_checkpoint --pods pods.yaml --event reboot",
        "rebind replay --recording run.jsonl",
    )
)
@click.argument("scenarios", nargs=-1, metavar="[NAME|FILE]...")
@own_state_options
@click.option(
    "--recording",
    type=FileName(path_type=Path),
    metavar="FILE",
    help="Do a run again that `rebind serve --record` has recorded.",
)
@click.option("--all", "all_builtin", is_flag=True, help="Run all built-in scenarios.")
@selector_option
@versions_option
@click.option(
    "--persistence",
    type=Listed("PERSISTENCE,...", parse_persistence),
    help="Persistences in place of the scenario's own, such as checkpoint:dirFsync=true.",
)
@click.option(
    "--readmission",
    type=Listed("POLICY,...", _readmission),
    help="upstream, pinned, reassign or wait, in place of the scenario's own.",
)
@click.option(
    "--seed",
    type=click.IntRange(min=0, max=SEED_MAX),
    metavar="NUMBER",
    help="Seed in place of the scenario's own.",
)
@settings_option
@click.option(
    "--live",
    is_flag=True,
    help="Run on real sockets, with plugins that serve them, real files and a real database; what "
    "takes real time takes it, waiting is left out.",
)
@click.option(
    "--update-transcripts",
    is_flag=True,
    help="Write the transcript of each file beside it, as NAME.transcript, and print nothing else.",
)
@click.option(
    "-o",
    "--output",
    type=click.Choice(("table", "transcript", "json", "junit", "trace", "html", "scenario")),
    default="table",
    show_default=True,
    help="Form of what is printed; html: one page that stands alone, with a timeline of each run; "
    "scenario: only the file made of your node's files.",
)
@click.option(
    "--output-file",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Write it to this file, not to stdout.",
)
@click.pass_context
def replay(  # noqa: PLR0913 - click hands over every option
    context: click.Context,
    *,
    scenarios: tuple[str, ...],
    checkpoint: Path | None,
    pods: tuple[Path, ...],
    event: str | None,
    node_name: str | None,
    write: Path | None,
    recording: Path | None,
    all_builtin: bool,
    selector: Selector | None,
    kubelet_version: tuple[str, ...] | None,
    persistence: tuple[Persistence, ...] | None,
    readmission: tuple[Readmission, ...] | None,
    seed: int | None,
    settings: tuple[str, ...],
    live: bool,
    update_transcripts: bool,
    output: str,
    output_file: Path | None,
) -> None:
    """Run scenarios in virtual time and compare kubelet versions and persistences.

    A scenario is a file, or the name of a built-in one (`rebind scenario list`). Each combination
    of its versions, persistences and readmission policies is one run. The exit code is 1 when an
    expectation did not hold.

    With --checkpoint, --pods and --event the scenario is made of your own node's files: which of
    its pods keep their devices, get others or fail, with the plugins back before the pods are
    admitted and with the plugins late. Nothing on the node is touched. What is run is version
    1.36.2 and the persistence checkpoint, unless you say otherwise.

    A recording of `rebind serve --record` is done again in virtual time with the plugins' real
    answers: printed is its transcript, or with -o trace its records. The exit code is 1 when the
    replay says something else than the live run.

    With --live a run is not simulated: kubelets listen on sockets, plugins register there and are
    called, state is written to disk. Scenarios with the label timing=independent give the same
    transcript both ways, but for the times. A power cut, a damaged database and a fault between the
    steps of a file are for simulations alone.
    """
    if output == "html":  # Said before the runs, which may take a while.
        require_html()
    wanted = _Output(output, output_file)
    if (recorded := _recording(recording, scenarios)) is not None:
        _replay_recording(context, recorded, wanted)
        return
    files = own_files(
        context, checkpoint=checkpoint, pods=pods, event=event, node_name=node_name, write=write
    )
    narrowing = Narrowing(kubelet_version, persistence, readmission)
    if files is not None:
        others = bool(scenarios or all_builtin or selector or settings or update_transcripts)
        _replay_own(context, files, Choice((), narrowing, seed, {}, live), wanted, others=others)
        return
    if output == "scenario":
        reason = "-o scenario wants your node's files; `rebind scenario show` prints a built-in one"
        raise click.UsageError(reason, context)
    names = _names(scenarios, selector, all_builtin=all_builtin)
    if update_transcripts and (
        narrowing != Narrowing() or seed is not None or settings or live or output_file is not None
    ):
        reason = "--update-transcripts wants whole scenarios: leave the other options out"
        raise click.UsageError(reason, context)
    choice = Choice(names, narrowing, seed, read_settings(settings), live)
    _show(context, _load_all(choice), choice, None if update_transcripts else wanted)


def _recording(named: Path | None, scenarios: tuple[str, ...]) -> Path | None:
    """Return the recording that is meant: one was named, or the one FILE is one."""
    if named is None and len(scenarios) == 1 and is_recording(Path(scenarios[0])):
        return Path(scenarios[0])
    return named


def _replay_recording(context: click.Context, recording: Path, output: _Output) -> None:
    """Do a recorded run again; it is what it is, so no option may change it."""
    free = {"recording", "scenarios", "output", "output_file"}
    for parameter in context.command.params:
        name = parameter.name or ""
        given = context.get_parameter_source(name) is ParameterSource.COMMANDLINE
        if given and name not in free:
            reason = f"a recording is replayed as it is: leave {parameter.opts[-1]} out"
            raise click.UsageError(reason, context)
    if output.form not in {"table", "transcript", "trace"}:
        reason = f"-o {output.form} is for scenarios; a recording has -o transcript and -o trace"
        raise click.UsageError(reason, context)
    replayed = replay_recording(recording)
    _put(replayed.trace() if output.form == "trace" else replayed.transcript(), output)
    if replayed.difference:
        click.echo(f"not the same run: {replayed.difference}", err=True)
        context.exit(CHECK_FAILED)


def _replay_own(
    context: click.Context, files: OwnFiles, choice: Choice, output: _Output, *, others: bool
) -> None:
    """Run the scenario made of a node's files, or print it; `others` are options without sense."""
    if others:
        reason = (
            "--checkpoint makes a scenario of its own: "
            "leave names, --all, -l, --set and --update-transcripts out"
        )
        raise click.UsageError(reason, context)
    made = load_own(files, choice.narrowing)
    if output.form == "scenario":
        _put(made.text, output)
    else:
        _show(context, made.loaded, choice, output)


def _show(
    context: click.Context,
    loaded: Sequence[LoadedScenario],
    choice: Choice,
    output: _Output | None,
) -> None:
    """Run scenarios and print them in a form, or, without one, write their transcripts."""
    results = _run_all(loaded, choice)
    _warn_of_unknown_versions(results)
    if output is None:
        _write_transcripts(choice.names, results)
    else:
        _put(_report(results, output), output)
    if any(result.broken for result in results):
        context.exit(CHECK_FAILED)


def _put(text: str, output: _Output) -> None:
    if output.file is not None:
        write_whole(output.file, text.encode())
    else:
        click.echo(text, nl=False)


def _names(
    scenarios: tuple[str, ...], selector: Selector | None, *, all_builtin: bool
) -> tuple[str, ...]:
    if all_builtin and scenarios:
        reason = "--all runs all built-in scenarios; leave the names out"
        raise click.UsageError(reason, click.get_current_context())
    if not all_builtin and not scenarios:
        reason = (
            "name a scenario or a file, or give --all; "
            "the built-in ones are shown by `rebind scenario list`"
        )
        raise click.UsageError(reason, click.get_current_context())
    if selector is not None:
        return _selected(selector, all_builtin=all_builtin)
    return builtin_names() if all_builtin else scenarios


def _selected(selector: Selector, *, all_builtin: bool) -> tuple[str, ...]:
    """Return the built-in scenarios with these labels."""
    if not all_builtin:
        reason = "-l chooses among the built-in scenarios: give --all and no names"
        raise click.UsageError(reason, click.get_current_context())
    names = tuple(
        name
        for name in builtin_names()
        for loaded in load_scenarios(find_file(name), {})
        if selector.matches(loaded.scenario.metadata.labels)
    )
    if not names:
        reason = "no built-in scenario has these labels; `rebind scenario list -o wide` shows them"
        raise click.UsageError(reason, click.get_current_context())
    return names


def _load_all(choice: Choice) -> list[LoadedScenario]:
    loaded = [
        scenario
        for name in choice.names
        for scenario in load_scenarios(find_file(name), choice.settings)
    ]
    check_settings(choice.settings, (scenario.parameters for scenario in loaded))
    return loaded


def _run_all(loaded: Sequence[LoadedScenario], choice: Choice) -> list[ScenarioResult]:
    with progress_bar() as bar:
        total = sum(len(scenario.combinations(choice.narrowing)) for scenario in loaded)
        task = bar.add_task("replaying", total=total)

        def progress(_: Combination) -> None:
            bar.advance(task)

        start: StartRun = played_live if choice.live else simulated
        return [
            replay_scenario(scenario, choice.narrowing, start, seed=choice.seed, progress=progress)
            for scenario in loaded
        ]


def _warn_of_unknown_versions(results: Sequence[ScenarioResult]) -> None:
    versions = dict.fromkeys(column.version for result in results for column in result.columns)
    warn_of_unknown(*map(behavior_for, versions))


def _report(results: Sequence[ScenarioResult], output: _Output) -> str:
    reports: dict[str, Callable[[], str]] = {
        "table": lambda: table_report(
            results,
            width=terminal.WIDTH if output.file else terminal.width(),
            color=output.file is None and terminal.is_colored(),
        ),
        "transcript": lambda: "\n".join(transcript(result) for result in results),
        "json": lambda: json_report(results),
        "junit": lambda: junit(results),
        "trace": lambda: "".join(trace(result) for result in results),
        "html": lambda: replay_html(results),
    }
    return reports[output.form]()


def _write_transcripts(names: Sequence[str], results: Sequence[ScenarioResult]) -> None:
    """Write each file's transcripts beside it."""
    remaining = list(results)
    for name in names:
        path = find_file(name)
        count = len(load_scenarios(path, {}))
        own, remaining = remaining[:count], remaining[count:]
        target = path.with_suffix(".transcript")
        write_whole(target, "\n".join(transcript(result) for result in own).encode())
        click.echo(printable(str(target)), err=True)
