"""Files with churn profiles to profiles: every name in them is looked up, every rule checked."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path as FilePath

from benchmarks.profiles import loads, profile
from benchmarks.profiles.combinations import PRODUCTS_MAX, Matrix, idle_knob, size
from benchmarks.profiles.phase_length import UnboundedPhaseError, with_length
from benchmarks.profiles.profile import SLICED_FROM, FlatGate
from benchmarks.profiles.schema.matrix import Knobs
from benchmarks.profiles.schema.nodes import PodTemplate
from benchmarks.profiles.schema.phases import Phase
from benchmarks.profiles.schema.profile import ChurnProfile, ReadRate, Spec
from benchmarks.results.rows import Measure
from scenarios.files.documents import FILE_SIZE_MAX, Document, Path, Plain, read_documents
from scenarios.files.phrases import nearest
from scenarios.files.reading import check_kind, check_names, read_content
from scenarios.kubernetes.manifests import read_containers, read_limits
from scenarios.schema.problems import read_model, say
from simulator.core.instants import Duration, format_duration
from simulator.core.pods import Container, ContainerName
from simulator.core.resources import ResourceName
from simulator.errors import InputError, ProfileError


@dataclass(frozen=True, slots=True)
class LoadedProfile:
    """A profile and where it stands.

    Attributes:
        path: Its file, as the user gave it.
        document: The profile as it was written, parameters filled in.
        parameters: Names of the parameters that its file has.
    """

    path: str
    profile: profile.Profile
    document: Mapping[str, Plain]
    parameters: frozenset[str]


def load_profiles(path: FilePath, settings: Mapping[str, str]) -> list[LoadedProfile]:
    """Read all profiles of a file.

    Args:
        path: The file.
        settings: Values of parameters.

    Raises:
        OSError: The file cannot be read.
        InputError: It is not valid.
    """
    return parse_profiles(read_content(path, FILE_SIZE_MAX), str(path), settings)


def parse_profiles(content: bytes, path: str, settings: Mapping[str, str]) -> list[LoadedProfile]:
    """Read all profiles of a file's content.

    Args:
        content: The file.
        path: Its name in messages.
        settings: Values of parameters.

    Raises:
        InputError: It is not valid.
    """
    documents = read_documents(content, path, settings, error=ProfileError)
    if not documents:
        reason = "the file holds no document"
        raise ProfileError(reason, path=path)
    loaded = [_load(document) for document in documents]
    check_names(documents, [one.profile.name for one in loaded], "profile")
    return loaded


def _load(document: Document) -> LoadedProfile:
    check_kind(document, "ChurnProfile", "can be measured")
    written = read_model(document, ChurnProfile)
    plain = document.plain()
    return LoadedProfile(
        path=document.path,
        profile=_Loader(document, written).load(),
        document=plain if isinstance(plain, dict) else {},
        parameters=document.parameters,
    )


class _Loader:
    """Makes the profile of one document."""

    def __init__(self, document: Document, written: ChurnProfile) -> None:
        self._document = document
        self._written = written
        self._spec: Spec = written.spec

    def load(self) -> profile.Profile:
        spec, metadata = self._spec, self._written.metadata
        plugins = self._plugins()
        templates = {
            name: self._template(name, template) for name, template in spec.pod_templates.items()
        }
        nodes = self._nodes(templates)
        matrix = spec.matrix.over(Matrix())
        listed = self._listed(matrix, nodes)
        most = max([nodes.count, *matrix.nodes, *(count for one in listed for count in one.nodes)])
        return profile.Profile(
            name=metadata.name,
            labels=metadata.labels,
            description=" ".join(spec.description.split()),
            takes=spec.takes,
            seed=spec.seed,
            repetitions=spec.repetitions,
            nodes=nodes,
            plugins=plugins,
            templates=templates,
            phases=self._phases(templates, plugins, most),
            reads=profile.Reads(
                pod_resources_list=_qps(spec.reads.pod_resources_list),
                get=_qps(spec.reads.get),
                watchers=spec.reads.watchers,
            ),
            api_latency=spec.api_server.latency.value,
            container_start=spec.container_runtime.container_start,
            retention=spec.retention.changes if spec.retention is not None else None,
            measuring=profile.Measuring(
                profile.LatencyStart(spec.measure.from_),
                spec.measure.percentiles,
                tuple(Measure(name) for name in spec.measure.latencies),
            ),
            matrix=matrix,
            listed=listed,
            combinations_max=spec.combinations if isinstance(spec.combinations, int) else None,
        )

    def _fault(self, path: Path, reason: str) -> InputError:
        return self._document.fault(path, say(path, reason))

    def _known(self, path: Path, name: str, names: Collection[str], noun: str) -> str:
        """Return the name at a path, which must be one of those that the profile has."""
        if name not in names:
            raise self._fault(path, f'there is no {noun} "{name}"{nearest(name, names)}')
        return name

    def _plugins(self) -> tuple[profile.Plugin, ...]:
        plugins: list[profile.Plugin] = []
        for index, written in enumerate(self._spec.plugins):
            path: Path = ("spec", "plugins", index)
            for key, taken in (
                ("name", [one.name for one in plugins]),
                ("resourceName", [one.resource for one in plugins]),
            ):
                value = written.name if key == "name" else written.resource_name
                if value in taken:
                    raise self._fault((*path, key), f'"{value}" has a plugin already')
            plugins.append(
                profile.Plugin(
                    name=written.name,
                    resource=written.resource_name,
                    devices=written.devices.count,
                    spread=written.devices.spread,
                    allocate=written.latency.allocate.value,
                    preferred_allocation=written.latency.preferred_allocation.value,
                    pre_start=written.latency.pre_start.value,
                    asked_before=written.preferred_allocation,
                    told_before=written.pre_start_required,
                    reregister_after=written.reregister_after,
                    starts_after_boot=written.starts_after_boot,
                )
            )
        return tuple(plugins)

    def _template(self, name: str, written: PodTemplate) -> profile.PodTemplate:
        path: Path = ("spec", "podTemplates", name)
        init, containers = self._containers(path, written)
        served = [plugin.resource_name for plugin in self._spec.plugins]
        for container in (*init, *containers):
            for resource, _ in container.limits:
                if resource not in served:
                    reason = f'no plugin serves "{resource}"{nearest(resource, served)}'
                    raise self._fault(path, reason)
        lifetime = written.lifetime
        return profile.PodTemplate(
            name=name,
            init_containers=init,
            containers=containers,
            lifetime=lifetime.value if lifetime is not None else None,
            finishes=written.finishes,
            termination_grace=written.termination_grace_period,
        )

    def _containers(
        self, path: Path, written: PodTemplate
    ) -> tuple[tuple[Container, ...], tuple[Container, ...]]:
        if written.limits is not None and (written.containers or written.init_containers):
            raise self._fault(path, 'wants "limits" or "containers", found both of them')
        if written.containers or written.init_containers:
            pod = read_containers(self._document, path)
            return pod.init_containers, pod.containers
        limits: tuple[tuple[ResourceName, int], ...] = ()
        if written.limits is not None:
            limits = read_limits(self._document, (*path, "limits"))
        return (), (Container(ContainerName("main"), limits),)

    def _nodes(self, templates: Mapping[str, profile.PodTemplate]) -> profile.Nodes:
        written = self._spec.nodes
        path: Path = ("spec", "nodes", "existingPods")
        name = written.existing_pods
        if name is not None:
            self._known(path, name, templates, "pod template")
        may_exist = (written.existing, *self._spec.matrix.existing)
        if name is None and not templates and any(may_exist):
            raise self._fault(path[:-1], "existing pods want a pod template, and there is none")
        return profile.Nodes(
            count=written.count,
            numa_nodes=written.numa_nodes,
            existing=written.existing,
            existing_template=name or next(iter(templates), ""),
        )

    def _listed(self, matrix: Matrix, nodes: profile.Nodes) -> tuple[Matrix, ...]:
        """Return the slices of the matrix; a knob that turns nothing is a fault."""
        self._check_knobs(("spec", "matrix"), self._spec.matrix, matrix, nodes)
        if isinstance(self._spec.combinations, int):
            return ()
        listed = []
        for index, knobs in enumerate(self._spec.combinations):
            one = knobs.over(matrix)
            self._check_knobs(("spec", "combinations", index), knobs, one, nodes)
            listed.append(one)
        return tuple(listed)

    def _check_knobs(self, path: Path, knobs: Knobs, matrix: Matrix, nodes: profile.Nodes) -> None:
        matrix = matrix.of(nodes=nodes.count, existing=nodes.existing)
        if size(matrix) > PRODUCTS_MAX:
            reason = f"has {size(matrix)} products, at most {PRODUCTS_MAX} are made"
            raise self._fault(path, reason)
        idle = idle_knob(matrix, tuple(knobs.given()))
        if idle is not None:
            name, where = idle
            key = str(Knobs.model_fields[name].alias)
            raise self._fault((*path, key), f"turns nothing here: {where}")

    def _phases(
        self,
        templates: Mapping[str, profile.PodTemplate],
        plugins: tuple[profile.Plugin, ...],
        most_nodes: int,
    ) -> tuple[profile.Phase, ...]:
        phases: list[profile.Phase] = []
        for index, written in enumerate(self._spec.phases):
            path: Path = ("spec", "phases", index)
            if any(phase.name == written.name for phase in phases):
                reason = f'a second phase of the name "{written.name}"'
                raise self._fault((*path, "name"), reason)
            phase = self._phase(path, written, templates)
            if isinstance(phase.load, loads.SaturationLoad) and not any(
                isinstance(before.load, loads.RampLoad) for before in phases
            ):
                reason = "a share of the saturation rate wants a phase with a rampLoad before it"
                raise self._fault((*path, "load"), reason)
            bounded = self._bounded(path, phase, templates, plugins, most_nodes)
            if bounded.measured and 0 < bounded.expected <= bounded.warmup:
                reason = f"nothing is left to measure of {format_duration(bounded.expected)}"
                raise self._fault((*path, "warmup"), reason)
            if not bounded.is_sliced and any(isinstance(one, FlatGate) for one in bounded.gates):
                reason = (
                    f"what is flat is told of loads that are measured for "
                    f"{format_duration(SLICED_FROM)} at least and end by their time alone"
                )
                raise self._fault((*path, "gate"), reason)
            phases.append(bounded)
        return tuple(phases)

    def _phase(
        self, path: Path, written: Phase, templates: Mapping[str, profile.PodTemplate]
    ) -> profile.Phase:
        load = None
        if written.load is not None:
            self._known((*path, "load"), written.load, self._spec.loads, "load")
            load = self._spec.loads[written.load].value
        for name in written.pods or {}:
            self._known((*path, "pods"), name, templates, "pod template")
        restarts, reboots = written.restart_kubelet, written.reboot_nodes
        chaos, outage, lost = written.chaos, written.api_outage, written.lost_replies
        return profile.Phase(
            name=written.name,
            load=load,
            pods=tuple(profile.Share(*pair) for pair in (written.pods or {}).items()),
            api_calls=written.api_calls,
            duration=written.duration or Duration(0),
            until=written.until.value if written.until is not None else None,
            drain=written.drain,
            pause=written.pause,
            fresh=written.fresh,
            warmup=written.warmup,
            measured=written.measure,
            restarts=restarts.value if restarts is not None else None,
            reboots=reboots.value if reboots is not None else None,
            chaos=chaos.value if chaos is not None else None,
            outages=outage.value if outage is not None else None,
            lost_replies=lost.value if lost is not None else None,
            gates=tuple(each for gate in written.gate for each in gate.values),
        )

    def _bounded(
        self,
        path: Path,
        phase: profile.Phase,
        templates: Mapping[str, profile.PodTemplate],
        plugins: tuple[profile.Plugin, ...],
        most_nodes: int,
    ) -> profile.Phase:
        weights = sum(share.weight for share in phase.pods)
        held = sum(
            share.weight * templates[share.template].devices(plugin.resource)
            for share in phase.pods
            for plugin in plugins
        )
        if phase.until is not None and phase.until.utilization is not None and not held:
            reason = "no pod of this phase holds devices, so their utilization does not grow"
            raise self._fault((*path, "until"), reason)
        try:
            return with_length(
                phase,
                nodes=most_nodes,
                devices=sum(plugin.devices for plugin in plugins),
                devices_per_pod=Fraction(held, weights or 1),
            )
        except UnboundedPhaseError as cause:
            reason = 'the key "duration" is missing; nothing else ends this phase'
            raise self._fault(path, reason) from cause


def _qps(rate: ReadRate | None) -> float:
    return rate.qps if rate is not None else 0.0
