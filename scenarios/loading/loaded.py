"""Scenario files to scenarios that can be run: everything they refer to is read and checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path as FilePath
from types import MappingProxyType

from scenarios.files.documents import (
    FILE_SIZE_MAX,
    Document,
    MapNode,
    Path,
    Place,
    ScalarNode,
    read_documents,
)
from scenarios.files.reading import check_kind, check_names, read_content
from scenarios.kubernetes.manifests import ManifestPod, read_manifest
from scenarios.kubernetes.pod_status import read_pod_start
from scenarios.loading.checkpoints import pods_of_checkpoint
from scenarios.loading.matrix import Combination, Narrowing, combinations
from scenarios.loading.references import check_references
from scenarios.loading.simulation import ScenarioSurroundings, simulation_spec
from scenarios.schema.node_steps import CheckpointFile
from scenarios.schema.problems import read_model, say
from scenarios.schema.scenario import KnownPod, Node, Scenario
from scenarios.schema.scenario import Pod as PodEntry
from simulator.config import CHECKPOINT_SIZE_MAX
from simulator.core.pods import Pod, PodUid
from simulator.core.transitions import NodeName
from simulator.engine.actions import Action
from simulator.engine.spec import Controller, NodeSpec, PodSpec, PodStart, SimulationSpec
from simulator.errors import CheckpointError, ManifestError, ScenarioError


@dataclass(frozen=True, slots=True)
class LoadedScenario:
    """A scenario with everything it refers to.

    Attributes:
        path: Its file, as the user gave it.
        scenario: As written.
        nodes: With the content of their checkpoint files.
        pods: From the manifests, in order.
        actions: What the steps do, in order.
        parameters: Names of the parameters that its files have.
        step_places: Where each step stands in the file.
    """

    path: str
    scenario: Scenario
    nodes: tuple[NodeSpec, ...]
    pods: tuple[PodSpec, ...]
    actions: tuple[Action, ...]
    parameters: frozenset[str]
    step_places: tuple[Place, ...]

    @property
    def name(self) -> str:
        """The scenario's name."""
        return self.scenario.metadata.name

    def step_fault(self, index: int, reason: str) -> ScenarioError:
        """Return the error that says `reason` about a step, with its place."""
        place, path = self.step_places[index], ("spec", "steps", index)
        return ScenarioError(
            say(path, reason), path=self.path, line=place.line, column=place.column
        )

    def combinations(self, narrowing: Narrowing) -> tuple[Combination, ...]:
        """Return the runs that the command line leaves."""
        return combinations(self.scenario.spec, narrowing)

    def simulation(self, combination: Combination, *, seed: int | None = None) -> SimulationSpec:
        """Return what the engine starts from for one run."""
        return simulation_spec(self.scenario.spec, self.nodes, self.pods, combination, seed)


def load_scenarios(path: FilePath, settings: Mapping[str, str]) -> list[LoadedScenario]:
    """Read all scenarios of a file.

    Args:
        path: The file.
        settings: Values of parameters.

    Raises:
        OSError: The file cannot be read.
        InputError: It, or a file it refers to, is not valid.
    """
    content = read_content(path, FILE_SIZE_MAX)
    return parse_scenarios(content, path, settings)


def parse_scenarios(
    content: bytes,
    path: FilePath,
    settings: Mapping[str, str],
    *,
    files: Mapping[str, bytes] = MappingProxyType({}),
) -> list[LoadedScenario]:
    """Read all scenarios of a file's content.

    Args:
        content: The file.
        path: Its name; what it refers to is relative to it.
        settings: Values of parameters.
        files: Content of files, by the names that the scenarios give them, that are not read.
    """
    documents = read_documents(content, str(path), settings)
    if not documents:
        reason = "the file holds no document"
        raise ScenarioError(reason, path=str(path))
    loaded = [_Loader(document, path.parent, settings, files).load() for document in documents]
    check_names(documents, [scenario.name for scenario in loaded], "scenario")
    return loaded


class _Loader:
    """Loads one document and what it refers to."""

    def __init__(
        self,
        document: Document,
        folder: FilePath,
        settings: Mapping[str, str],
        files: Mapping[str, bytes],
    ) -> None:
        self._files = files
        self._document = document
        self._folder = folder
        self._settings = settings
        self._parameters = set(document.parameters)

    def load(self) -> LoadedScenario:
        check_kind(self._document, "Scenario", "can be replayed")
        scenario = read_model(self._document, Scenario)
        nodes = tuple(self._node(index, node) for index, node in enumerate(scenario.spec.nodes))
        pods = self._pods(scenario)
        known = [pod for node in nodes for pod in node.pods]
        check_references(self._document, scenario, pods, known)
        surroundings = ScenarioSurroundings(
            scenario.spec,
            [pod.name for pod in pods] + [pod.name for pod in known],
            self._replacements(scenario),
        )
        return LoadedScenario(
            path=self._document.path,
            scenario=scenario,
            nodes=nodes,
            pods=pods,
            actions=tuple(step.action.engine_action(surroundings) for step in scenario.spec.steps),
            parameters=frozenset(self._parameters),
            step_places=tuple(
                self._document.place(("spec", "steps", index))
                for index in range(len(scenario.spec.steps))
            ),
        )

    def _replacements(self, scenario: Scenario) -> dict[str, bytes]:
        """Read the files that steps put in the place of a checkpoint."""
        files = {}
        for index, step in enumerate(scenario.spec.steps):
            action = step.action
            if isinstance(action, CheckpointFile) and action.path is not None:
                where: Path = ("spec", "steps", index, step.action_key, "path")
                files[action.path] = self._file(where, action.path, CHECKPOINT_SIZE_MAX)
        return files

    def _pods(self, scenario: Scenario) -> tuple[PodSpec, ...]:
        pods: list[PodSpec] = []
        for index, entry in enumerate(scenario.spec.pods):
            path: Path = ("spec", "pods", index, "manifest")
            for found_pod in self._manifest(path):
                if any(pod.name == found_pod.pod.name for pod in pods):
                    reason = f'a second pod of the name "{found_pod.pod.name}"'
                    raise self._document.fault(path, say(path, reason))
                pod = _pod_spec(found_pod, entry)
                if pod.static:
                    pod = self._static_pod(path[:-1], scenario, pod)
                pods.append(pod)
        return tuple(pods)

    def _static_pod(self, path: Path, scenario: Scenario, pod: PodSpec) -> PodSpec:
        """Return a static pod with the node on which its file stands."""
        where = (*path, "static")
        if pod.controller is not Controller.NONE:
            reason = f'the pod "{pod.name}" has a controller, which makes no static pods'
            raise self._document.fault(where, say(where, reason))
        names = [node.name for node in scenario.spec.nodes]
        if pod.node is None and len(names) > 1:
            reason = f'the key "node" is missing; nodes are {", ".join(names)}'
            raise self._document.fault(path, say(path, reason))
        return replace(pod, node=pod.node or NodeName(names[0]))

    def _manifest(self, path: Path) -> list[ManifestPod]:
        """Read the manifest at `path`, which may be only the name of a file."""
        node = self._document.find(path)
        if not (isinstance(node, MapNode) and set(node.items) == {"path"}):
            return read_manifest(self._document, path)
        where = (*path, "path")
        name = node.items["path"]
        if not isinstance(name, ScalarNode):
            raise self._document.fault(where, say(where, "wants the name of a file"))
        content = self._file(where, name.text, FILE_SIZE_MAX)
        pods: list[ManifestPod] = []
        shown = str(self._folder / name.text)
        for document in read_documents(content, shown, self._settings, error=ManifestError):
            self._parameters |= document.parameters
            pods += read_manifest(document)
        return pods

    def _node(self, index: int, node: Node) -> NodeSpec:
        path: Path = ("spec", "nodes", index)
        content = None
        if node.checkpoint is not None:
            where = (*path, "checkpoint", "path")
            content = self._file(where, node.checkpoint.path, CHECKPOINT_SIZE_MAX)
        pods: list[Pod] = []
        starts: dict[PodUid, PodStart] = {}
        for number, known in enumerate(node.pods):
            where = (*path, "pods", number)
            if known.gone:
                pods.append(Pod(PodUid(known.uid), known.name))
                starts[PodUid(known.uid)] = PodStart(gone=True)
            elif known.manifest is None:
                pods.append(self._implied_pod(where, known, content))
            else:
                manifest = self._described_pod((*where, "manifest"))
                pods.append(replace(manifest.pod, uid=PodUid(known.uid), name=known.name))
                starts[PodUid(known.uid)] = read_pod_start(manifest)
        return NodeSpec(
            name=NodeName(node.name),
            numa_nodes=node.numa_nodes,
            topology_manager_policy=node.topology_manager_policy,
            topology_manager_scope=node.topology_manager_scope,
            checkpoint=content,
            pods=tuple(pods),
            pod_starts=starts,
        )

    def _described_pod(self, path: Path) -> ManifestPod:
        manifests = self._manifest(path)
        if len(manifests) != 1:
            reason = f"wants one pod, found {len(manifests)}"
            raise self._document.fault(path, say(path, reason))
        return manifests[0]

    def _implied_pod(self, path: Path, known: KnownPod, content: bytes | None) -> Pod:
        """Return the pod that a checkpoint's entries imply: limits as many as devices."""
        try:
            pods = pods_of_checkpoint(content or b"")
        except CheckpointError as error:
            reason = f"wants a manifest, because the checkpoint cannot be read: {error}"
            raise self._document.fault(path, say(path, reason)) from error
        containers = pods.get(PodUid(known.uid))
        if containers is None:
            named = ", ".join(pods) or "none"
            reason = f'the checkpoint has no pod "{known.uid}", it has: {named}'
            raise self._document.fault((*path, "uid"), say((*path, "uid"), reason))
        return Pod(PodUid(known.uid), known.name, containers=containers)

    def _file(self, where: Path, name: str, size_max: int) -> bytes:
        if name in self._files:
            return self._files[name]
        path = self._folder / name
        try:
            content = read_content(path, size_max) if path.is_file() else None
        except (OSError, ValueError):
            content = None
        if content is None:
            reason = f"cannot read the file {path}; names are relative to the scenario's folder"
            raise self._document.fault(where, say(where, reason))
        if len(content) > size_max:
            reason = f"the file {path} has more than {size_max} bytes"
            raise self._document.fault(where, say(where, reason))
        return content


def _pod_spec(found_pod: ManifestPod, entry: PodEntry) -> PodSpec:
    bound = entry.node or found_pod.node
    return PodSpec(
        name=found_pod.pod.name,
        pod=found_pod.pod,
        node=NodeName(bound) if bound else None,
        controller=Controller(entry.controller) if entry.controller else found_pod.controller,
        restart_policy=found_pod.restart_policy,
        termination_grace=found_pod.termination_grace,
        replace_after=entry.replace_after,
        static=entry.static,
    )
