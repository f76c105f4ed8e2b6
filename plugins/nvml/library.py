"""NVML opened and closed, and its errors in our words.

pynvml loads `libnvidia-ml.so.1`, which the driver brings along, when it is opened; importing it
needs neither. Its functions and their results have no types, so each is called where its value
gets one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Final, TypeAlias, TypeVar

import pynvml

from simulator.errors import HardwareError

if TYPE_CHECKING:
    from ctypes import Structure, _Pointer

T = TypeVar("T")

Handle: TypeAlias = "_Pointer[Structure]"
"""pynvml's handle of a GPU, a MIG device or a set of events."""

NvmlError: Final[type[Exception]] = pynvml.NVMLError

_LOST: Final[int] = pynvml.NVML_ERROR_GPU_IS_LOST
_TIMEOUT: Final[int] = pynvml.NVML_ERROR_TIMEOUT
_WHAT_TO_DO: Final = {
    pynvml.NVML_ERROR_LIBRARY_NOT_FOUND: (
        "its library libnvidia-ml.so.1 is not on this machine; install the NVIDIA driver, "
        "or use `rebind plugin run fake`"
    ),
    pynvml.NVML_ERROR_DRIVER_NOT_LOADED: (
        "the NVIDIA driver is not loaded; load it (`modprobe nvidia`) and try again"
    ),
    pynvml.NVML_ERROR_LIB_RM_VERSION_MISMATCH: (
        "the library and the loaded driver have different versions; reboot, "
        "or load the driver that was installed"
    ),
    pynvml.NVML_ERROR_NO_PERMISSION: (
        "this user may not open the driver; check who may read and write /dev/nvidiactl"
    ),
}
_UNANSWERED: Final = frozenset(
    {
        pynvml.NVML_ERROR_NOT_SUPPORTED,
        pynvml.NVML_ERROR_FUNCTION_NOT_FOUND,
        pynvml.NVML_ERROR_INVALID_ARGUMENT,
        pynvml.NVML_ERROR_NO_PERMISSION,
        pynvml.NVML_ERROR_NOT_FOUND,
    }
)
"""Errors of a question that this GPU or this driver has no answer to."""


@contextmanager
def opened() -> Iterator[None]:
    """Open NVML for a block.

    Raises:
        HardwareError: There is no library or no driver, or the driver cannot be used.
    """
    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError as error:
        what = _WHAT_TO_DO.get(error.value, f"it answered: {error_text(error)}")
        message = f"asked NVML for this machine's GPUs: {what}"
        raise HardwareError(message) from error
    try:
        yield
    finally:
        with suppress(pynvml.NVMLError):
            # The driver may have gone meanwhile.
            pynvml.nvmlShutdown()


def is_lost(error: Exception) -> bool:
    """Tell whether NVML says that the GPU has fallen off the bus."""
    return error_code(error) == _LOST


def is_timeout(error: Exception) -> bool:
    """Tell whether NVML says that it waited long enough."""
    return error_code(error) == _TIMEOUT


def error_code(error: Exception) -> int:
    """Return NVML's number of an error that pynvml raised."""
    code: int = error.value if isinstance(error, pynvml.NVMLError) else pynvml.NVML_ERROR_UNKNOWN
    return code


def error_text(error: Exception) -> str:
    """Return NVML's own text of an error, with its number."""
    return f"{error} (NVML error {error_code(error)})"


def answered(question: Callable[..., T], *arguments: object) -> T | None:
    """Ask NVML, and return None where this GPU or this driver has no answer.

    Raises:
        NvmlError: Anything else, such as a lost GPU.
    """
    try:
        return question(*arguments)
    except pynvml.NVMLError as error:
        if error.value in _UNANSWERED:
            return None
        raise
