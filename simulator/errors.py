"""The error tree of Rebind.

Errors are grouped by what the catcher does; every attribute holds the data and the message states
what was asked, what was found, and what to do next. A refused admission is not an error: it is a
`simulator.core.refusals.Refusal`.

RebindError
├─ ConfigError
├─ RegistrationError      UnsupportedVersionError, InvalidResourceNameError, InvalidEndpointError
├─ PluginError            EndpointStoppedError, PluginCallError, MessageTooLargeError,
│                         PluginTimeoutError, MalformedReplyError
├─ CheckpointError        CheckpointSyntaxError, CheckpointTypeError, CorruptCheckpointError,
│                         UnknownCheckpointVersionError, ForeignCheckpointError,
│                         CheckpointTooLargeError
├─ StoreError             SchemaOutOfDateError, HolderConflictError, ImportRefusedError,
│                         StoreUnavailableError, WriterLockedError
├─ ApiError               ApiUnreachableError
├─ ServerError            ServerNotRunningError, ObjectNotFoundError, ObjectConflictError,
│                         WatchBrokenError
├─ HardwareError
└─ InputError             ScenarioError, ManifestError, ProfileError

Exit codes belong to the command line alone (`simulator.cli`).
"""

from __future__ import annotations


class RebindError(Exception):
    """Something that was asked of Rebind cannot be done."""

    def __init__(self, message: str | None = None) -> None:
        super().__init__(message if message is not None else (self.__doc__ or "").strip())


class ConfigError(RebindError):
    """A flag, environment variable or configuration file has an unusable value."""


class RegistrationError(RebindError):
    """A device plugin's Register request cannot be accepted (S1.12)."""


class UnsupportedVersionError(RegistrationError):
    """The plugin asked for a device plugin API version other than v1beta1 (S1.12.2)."""


class InvalidResourceNameError(RegistrationError):
    """A resource name is not an extended resource name (S1.15)."""


class InvalidEndpointError(RegistrationError):
    """A plugin endpoint cannot be used."""


class PluginError(RebindError):
    """A call to a device plugin did not give a usable answer."""


class EndpointStoppedError(PluginError):
    """The endpoint has a stop time, so the call failed without being sent (S1.27)."""


class PluginCallError(PluginError):
    """The plugin answered with an error, or the call to it failed on the way.

    Attributes:
        code: The gRPC status as Go names it, e.g. `Unavailable`; empty when there was none.
    """

    def __init__(self, message: str | None = None, *, code: str = "") -> None:
        super().__init__(message)
        self.code = code


class MessageTooLargeError(PluginCallError):
    """A message is larger than may be received (S1.21).

    Attributes:
        size, limit: Bytes that it has, and that it may have.
    """

    def __init__(self, message: str, *, code: str, size: int, limit: int) -> None:
        super().__init__(message, code=code)
        self.size = size
        self.limit = limit


class PluginTimeoutError(PluginError):
    """The plugin did not answer in time."""


class MalformedReplyError(PluginError):
    """The plugin's answer cannot be decoded."""


class CheckpointError(RebindError):
    """A checkpoint file cannot be used."""


class CheckpointSyntaxError(CheckpointError):
    """The file is not JSON; the message is the kubelet's, from Go's JSON reader.

    Attributes:
        offset: The byte at which the reader gives up; None where that says nothing.
    """

    def __init__(self, message: str, *, offset: int | None = None) -> None:
        super().__init__(message)
        self.offset = offset


class CheckpointTypeError(CheckpointError):
    """The file is JSON of another shape than the format; the message is the kubelet's."""


class CorruptCheckpointError(CheckpointError):
    """The content does not match its checksum.

    Attributes:
        found: The checksum in the file; 0 when there is none.
        computed: The checksum of the content.
    """

    def __init__(
        self, message: str = "checkpoint is corrupted", *, found: int = 0, computed: int = 0
    ) -> None:
        super().__init__(message)
        self.found = found
        self.computed = computed


class CheckpointTooLargeError(CheckpointError):
    """The file is larger than what is read."""


class UnknownCheckpointVersionError(CheckpointError):
    """The checkpoint has a format that this kubelet version does not read."""


class ForeignCheckpointError(CheckpointError):
    """The file is the checkpoint of another kubelet manager."""


class StoreError(RebindError):
    """The database did not do what was asked; nothing was changed."""


class SchemaOutOfDateError(StoreError):
    """The database has another schema revision than this program."""


class HolderConflictError(StoreError):
    """A device is already held by another pod."""


class ImportRefusedError(StoreError):
    """A checkpoint cannot become a node's state as it stands."""


class StoreUnavailableError(StoreError):
    """The database cannot be reached, is full, damaged or read-only."""


class WriterLockedError(StoreError):
    """Another process is the writer of this database."""


class ApiError(RebindError):
    """The API server refused a request."""


class ApiUnreachableError(ApiError):
    """The API server gave no answer, so nobody knows what became of the request."""


class ServerError(RebindError):
    """A running server cannot do what it was asked, or cannot start."""


class ServerNotRunningError(ServerError):
    """No server runs where one was looked for."""


class ObjectNotFoundError(ServerError):
    """A running server has no such object."""


class ObjectConflictError(ServerError):
    """A running server has such an object, and another one under its name cannot be."""


class WatchBrokenError(ServerError):
    """A watch did not take what happened as fast as it happened, and was ended."""


class HardwareError(RebindError):
    """Hardware of this machine, its driver or its library is missing or cannot be used."""


class InputError(RebindError):
    """A file given by the user is not valid; the message begins with path:line:column.

    Attributes:
        others: Further faults that were found in the file at the same time, in order.
    """

    others: tuple[InputError, ...] = ()

    def __init__(self, message: str, *, path: str = "", line: int = 0, column: int = 0) -> None:
        self.path = path
        self.line = line
        self.column = column
        self.reason = message
        place = ":".join(str(part) for part in (path, line, column) if part)
        super().__init__(f"{place}: {message}" if place else message)


class ScenarioError(InputError):
    """A scenario file is not valid."""


class ManifestError(InputError):
    """A Kubernetes manifest is not valid."""


class ProfileError(InputError):
    """A file with churn profiles is not valid."""
