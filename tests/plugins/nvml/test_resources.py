"""Which resources and ids a machine's GPUs make; names are those of NVIDIA's plugin."""

from __future__ import annotations

import pytest

from plugins.nvml.gpus import Gpu, Inventory, MigDevice
from plugins.nvml.profiles import profile_in_name, profile_of_slices
from plugins.nvml.resources import MigStrategy, Naming, offers_of
from simulator.core.devices import NumaNode
from simulator.core.physical_ids import stands_for
from simulator.errors import ConfigError


def mig_gpu(index: int, *profiles: str) -> Gpu:
    devices = tuple(
        MigDevice(f"MIG-{index}{place}", profile, gpu_instance=place + 1, compute_instance=0)
        for place, profile in enumerate(profiles)
    )
    return Gpu(index, f"GPU-{index}", mig_enabled=True, mig_devices=devices)


def offered(*gpus: Gpu, naming: Naming) -> dict[str, list[str]]:
    offers = offers_of(Inventory(gpus), naming)
    return {offer.resource: [id_ for unit in offer.units for id_ in unit.ids] for offer in offers}


MIXED = (Gpu(0, "GPU-0"), mig_gpu(1, "1g.5gb", "1g.5gb", "3g.20gb"))


def test_without_a_strategy_every_gpu_is_whole() -> None:
    assert offered(*MIXED, naming=Naming()) == {"nvidia.com/gpu": ["GPU-0", "GPU-1"]}


def test_mixed_names_a_resource_after_each_profile() -> None:
    assert offered(*MIXED, naming=Naming(mig_strategy=MigStrategy.MIXED)) == {
        "nvidia.com/gpu": ["GPU-0"],
        "nvidia.com/mig-1g.5gb": ["MIG-10", "MIG-11"],
        "nvidia.com/mig-3g.20gb": ["MIG-12"],
    }


def test_only_the_resources_that_are_asked_for_are_offered() -> None:
    naming = Naming(mig_strategy=MigStrategy.MIXED, only=("nvidia.com/mig-3g.20gb",))

    assert offered(*MIXED, naming=naming) == {"nvidia.com/mig-3g.20gb": ["MIG-12"]}


@pytest.mark.parametrize(
    ("profile", "name"),
    [
        ("1g.5gb+me", "1g.5gb.me"),
        ("1g.24gb+gfx,me", "1g.24gb.gfx.me"),
        ("1g.24gb-me", "1g.24gb-me"),
    ],
)
def test_extras_of_a_profile_are_a_part_of_the_name(profile: str, name: str) -> None:
    naming = Naming(mig_strategy=MigStrategy.MIXED)

    assert list(offered(mig_gpu(0, profile), naming=naming)) == [f"nvidia.com/mig-{name}"]


def test_single_offers_the_mig_devices_as_gpus() -> None:
    gpus = (mig_gpu(0, "2g.10gb"), mig_gpu(1, "2g.10gb", "2g.10gb"))

    assert offered(*gpus, naming=Naming(mig_strategy=MigStrategy.SINGLE)) == {
        "nvidia.com/gpu": ["MIG-00", "MIG-10", "MIG-11"]
    }


def test_single_without_mig_offers_the_gpus() -> None:
    assert offered(Gpu(0, "GPU-0"), naming=Naming(mig_strategy=MigStrategy.SINGLE)) == {
        "nvidia.com/gpu": ["GPU-0"]
    }


@pytest.mark.parametrize(
    ("gpus", "said"),
    [
        (MIXED, "1 of 2 GPUs have MIG mode and GPU-0 has not; use `mixed`"),
        ((mig_gpu(0, "1g.5gb", "3g.20gb"),), "MIG devices of 1g.5gb, 3g.20gb; use `mixed`"),
        ((mig_gpu(0),), "GPU-0 has MIG mode and no MIG device; create some, or use `mixed`"),
    ],
)
def test_single_is_refused_where_a_gpu_would_mean_several_things(
    gpus: tuple[Gpu, ...], said: str
) -> None:
    with pytest.raises(ConfigError) as refused:
        offered(*gpus, naming=Naming(mig_strategy=MigStrategy.SINGLE))

    assert said in str(refused.value)


def test_a_lost_gpu_does_not_spoil_a_single_machine() -> None:
    gpus = (mig_gpu(0, "1g.5gb"), Gpu(1, "GPU-1", is_lost=True))

    assert offered(*gpus, naming=Naming(mig_strategy=MigStrategy.SINGLE)) == {
        "nvidia.com/gpu": ["MIG-00", "GPU-1"]
    }


def test_replicas_are_numbered_behind_the_uuid() -> None:
    """R30: a monitoring agent finds the GPU behind each."""
    ids = offered(Gpu(0, "GPU-0"), naming=Naming(replicas=3))["nvidia.com/gpu"]

    assert ids == ["GPU-0::0", "GPU-0::1", "GPU-0::2"]
    assert [stands_for(id_)[-1] for id_ in ids] == ["GPU-0"] * 3


def test_mig_devices_have_replicas_too() -> None:
    naming = Naming(mig_strategy=MigStrategy.MIXED, replicas=2, rename_shared=True)

    assert offered(mig_gpu(0, "1g.5gb"), naming=naming) == {
        "nvidia.com/mig-1g.5gb.shared": ["MIG-00::0", "MIG-00::1"]
    }


def test_a_mig_device_is_on_the_numa_node_of_its_gpu() -> None:
    """R104: some of them were listed without."""
    gpu = Gpu(
        0,
        "GPU-0",
        numa_node=NumaNode(0),
        mig_enabled=True,
        mig_devices=mig_gpu(0, "1g.5gb", "1g.5gb").mig_devices,
    )

    (offer,) = offers_of(Inventory((gpu,)), Naming(mig_strategy=MigStrategy.MIXED))

    assert [unit.topology for unit in offer.units] == [(0,), (0,)]


@pytest.mark.parametrize(
    ("naming", "said"),
    [
        (Naming(replicas=0), "asked for 0 replicas of each GPU, 1 to 10000 can be"),
        (Naming(replicas=10_001), "asked for 10001 replicas of each GPU, 1 to 10000 can be"),
        (Naming(rename_shared=True), "called `….shared` without replicas; ask for 2 replicas"),
        (
            Naming(only=("nvidia.com/mig-1g.5gb",)),
            "5gb, but this machine's GPUs make nvidia.com/gpu",
        ),
        (Naming(domain="no domain"), "'no domain/gpu' is no extended resource name"),
    ],
)
def test_options_that_fit_nothing_are_refused(naming: Naming, said: str) -> None:
    with pytest.raises(ConfigError) as refused:
        offered(Gpu(0, "GPU-0"), naming=naming)

    assert said in str(refused.value)


@pytest.mark.parametrize(
    ("name", "profile"),
    [
        ("NVIDIA A100-SXM4-40GB MIG 1g.5gb", "1g.5gb"),
        ("NVIDIA A100-SXM4-40GB MIG 1c.3g.20gb", "1c.3g.20gb"),
        ("NVIDIA H100 80GB HBM3 MIG 1g.10gb+me", "1g.10gb+me"),
        ("NVIDIA A100-SXM4-40GB", None),
    ],
)
def test_a_newer_driver_says_the_profile_in_the_name(name: str, profile: str | None) -> None:
    assert profile_in_name(name) == profile


A30 = 24 * 1024**3 - 400 * 1024**2
A100 = 42_505_273_344
H200 = 143_771 * 1024**2


@pytest.mark.parametrize(
    ("compute", "slices", "memory_mib", "total", "profile"),
    [
        (1, 1, 4_864, A100, "1g.5gb"),
        (2, 2, 9_984, A100, "2g.10gb"),
        (3, 3, 20_096, A100, "3g.20gb"),
        (1, 3, 20_096, A100, "1c.3g.20gb"),
        (7, 7, 40_192, A100, "7g.40gb"),
        (1, 1, 5_952, A30, "1g.6gb"),
        (1, 1, 16_896, H200, "1g.18gb"),
        (4, 4, 71_424, H200, "4g.71gb"),
        (1, 1, 33_280, H200, "1g.35gb"),
    ],
)
def test_the_size_makes_the_profile_that_nvidia_documents(
    compute: int, slices: int, memory_mib: int, total: int, profile: str
) -> None:
    assert profile == profile_of_slices(
        compute_slices=compute, gpu_slices=slices, memory_mib=memory_mib, gpu_memory_bytes=total
    )
