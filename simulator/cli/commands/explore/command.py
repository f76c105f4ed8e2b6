"""`rebind explore`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import click
from rich.progress import Progress, TaskID

from scenarios.builtin import find_file
from scenarios.exploring.editing import name_of
from scenarios.exploring.explorable import Explorable, history, history_text, load_explorable
from scenarios.exploring.explorer import Exploration, Explorer, KindOfFinding, kinds_of_findings
from scenarios.files.parameters import check_settings, read_settings
from scenarios.loading.matrix import Narrowing
from scenarios.schema.variants import ADDS_NOTHING, Persistence, parse_persistence
from simulator.assembly.worlds import simulated
from simulator.cli.checkpoint_files import FileName
from simulator.cli.commands.explore.output import exploration_document, print_explorations
from simulator.cli.examples import example
from simulator.cli.failures import CHECK_FAILED, EnvironmentProblem
from simulator.cli.lists import Listed
from simulator.cli.output import OutputOptions, emit_document
from simulator.cli.output_files import write_whole
from simulator.cli.progress import progress_bar
from simulator.cli.scenario_options import settings_option, versions_option
from simulator.reports.text import printable

_BOTH = (Persistence("checkpoint"), Persistence("database"))


@dataclass(slots=True)
class _Explored:
    """Everything that was explored, in order."""

    pairs: list[tuple[Explorable, Exploration]] = field(default_factory=list)
    interrupted: bool = False

    @property
    def explorations(self) -> list[Exploration]:
        return [exploration for _, exploration in self.pairs]

    def scenario_of(self, kind: KindOfFinding) -> Explorable:
        return next(one for one, exploration in self.pairs if exploration is kind.where)


@click.command(
    epilog=example(
        "rebind explore reboot-plugin-first --kubelet-version 1.36.2 --persistence database",
        "rebind explore reboot-plugin-first --kubelet-version 1.36.2 --limit 20 --write found",
    )
)
@click.argument("scenarios", nargs=-1, required=True, metavar="NAME|FILE...")
@click.option(
    "--persistence",
    type=Listed("PERSISTENCE,...", parse_persistence),
    default=_BOTH,
    show_default="checkpoint,database",
    help="Persistences to judge, such as checkpoint:dirFsync=true.",
)
@versions_option
@click.option(
    "--limit",
    type=click.IntRange(min=1),
    metavar="NUMBER",
    help="Most points of one combination, evenly spread; left out: all.",
)
@settings_option
@click.option(
    "--write",
    "folder",
    type=FileName(path_type=Path),
    metavar="FOLDER",
    help="Write the shortest history of each kind of finding there, as a scenario to replay.",
)
@click.option(
    "-o",
    "--output",
    type=click.Choice(("table", "json", "yaml", "scenario")),
    default="table",
    show_default=True,
    help="Form of what is printed; scenario: the histories, as one file.",
)
@click.pass_context
def explore(  # noqa: PLR0913 - click hands over every option
    context: click.Context,
    *,
    scenarios: tuple[str, ...],
    persistence: tuple[Persistence, ...],
    kubelet_version: tuple[str, ...] | None,
    limit: int | None,
    settings: tuple[str, ...],
    folder: Path | None,
    output: str,
) -> None:
    """Cut scenarios at every effect and tell what each persistence adds.

    Effects are the steps of a file, the boundaries of transactions and the calls of plugins and to
    the API. A scenario runs once as it is, and then once for each effect and each side of it, with
    a crash of the kubelet and with a loss of power there; steps of the durable state also fail with
    an error. At the end a pod for each plugin asks for one device. A violation counts when the same
    run without the cut, on a store that nothing ever befalls, does not have it, and when it does
    not follow from the kubelet's own decisions.

    The exit code is 1 when a persistence that promises to add nothing (database) adds something;
    what the checkpoint adds are its known weaknesses. Ctrl-C gives what was found so far.
    """
    values = read_settings(settings)
    explorable = [one for name in scenarios for one in load_explorable(find_file(name), values)]
    check_settings(values, (one.loaded.parameters for one in explorable))
    narrowing = Narrowing(kubelet_version, persistence)
    found = _explore_all(explorable, narrowing, limit)
    kinds = kinds_of_findings(found.explorations)
    if folder is not None:
        _write(folder, _histories(found, kinds, folder))
    if output == "table":
        print_explorations(found.explorations, kinds)
    elif output == "scenario":
        texts = [text for _, text in _histories(found, kinds, Path())]
        click.echo("---\n".join(texts), nl=False)
    else:
        document = exploration_document(found.explorations, kinds)
        emit_document("ExplorationReport", document, OutputOptions(output))
    if found.interrupted:
        raise KeyboardInterrupt
    if any(kind.where.combination.persistence.name in ADDS_NOTHING for kind in kinds):
        context.exit(CHECK_FAILED)


def _explore_all(
    explorable: Sequence[Explorable], narrowing: Narrowing, limit: int | None
) -> _Explored:
    """Explore every combination; an interrupt ends it, and what was found so far stays."""
    found = _Explored()
    with progress_bar() as bar:
        for one in explorable:
            explorer = Explorer(one.loaded, simulated)
            for combination in one.loaded.combinations(narrowing):
                if found.interrupted:
                    return found
                task = bar.add_task(f"{one.loaded.name} {combination.label}", total=None)
                explored = explorer.explore(
                    combination,
                    limit=limit,
                    progress=partial(_show_progress, bar, task),
                )
                bar.remove_task(task)
                found.pairs.append((one, explored))
                found.interrupted = explored.interrupted
    return found


def _show_progress(bar: Progress, task: TaskID, done: int, total: int) -> None:
    bar.update(task, completed=done, total=total)


def _histories(
    found: _Explored, kinds: Sequence[KindOfFinding], folder: Path
) -> list[tuple[str, str]]:
    """Return the shortest history of each kind, as the name and the text of a file in `folder`."""
    histories = []
    for kind in kinds:
        explored = found.scenario_of(kind)
        shortest = history(explored, kind.where.combination, kind.first, start=simulated)
        if shortest is None:
            text = f"{kind.invariant} by {kind.cause} under {kind.persistence}"
            click.echo(f"note: no scenario of its own shows {text}", err=True)
        else:
            text = history_text(shortest, explored.path.parent, folder)
            histories.append((name_of(shortest), text))
    return histories


def _write(folder: Path, histories: Sequence[tuple[str, str]]) -> None:
    """Write the files; one that is there already must be the same."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in histories:
        path = folder / f"{name}.yaml"
        if not path.exists():
            write_whole(path, text.encode())
        elif path.read_text(encoding="utf-8", errors="replace") != text:
            reason = f"{path}: there is another file already; name another folder with --write"
            raise EnvironmentProblem(reason)
        click.echo(printable(f"written: {path}"), err=True)
