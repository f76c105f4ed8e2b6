"""A node's directory as `/var/lib/kubelet`, for one process and its children.

Many plugins have the kubelet's directory built in (S1.6). Such a plugin is run in a mount namespace
of its own, in which the node's directory is bound over that path; nothing changes for anybody else
and nothing is left behind. No privilege is needed where the kernel lets users have user namespaces;
then the user is root inside, and only there.

The module stands on the standard library alone, since it is also a program of its own: a process
with threads cannot enter a user namespace, so who has threads starts `command_in(…)`, which enters
and then becomes the command. Both keep the process: its id, exit code, streams and signals are the
command's.
"""

from __future__ import annotations

import ctypes
import errno
import os
import signal
import stat
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Final, NoReturn

KUBELET_DIRECTORY: Final = "/var/lib/kubelet"
"""Where plugins look, whatever the kubelet's own root directory is (S1.6)."""
ENVIRONMENT: Final = 3
"""Exit code when the command was not run (conventions §2)."""

_CLONE_NEWNS: Final = 0x0002_0000
_CLONE_NEWUSER: Final = 0x1000_0000
_MS_BIND: Final = 1 << 12
_MS_REC: Final = 1 << 14
_MS_PRIVATE: Final = 1 << 18
_SYSCTLS: Final = (
    ("user/max_user_namespaces", "0"),
    ("user/max_mnt_namespaces", "0"),
    ("kernel/unprivileged_userns_clone", "0"),
    ("kernel/apparmor_restrict_unprivileged_userns", "1"),
)
"""Settings of the kernel, and the value with which each forbids user or mount namespaces."""


class NamespaceError(OSError):
    """The kernel does not let this process have `/var/lib/kubelet` for itself."""


def command_in(directory: Path, command: Sequence[str]) -> list[str]:
    """Return a command line that runs `command` with the directory as `/var/lib/kubelet`.

    Args:
        directory: The node's directory, which holds `device-plugins` and so on.
        command: Program and arguments; the program is looked for as a shell does.
    """
    return [sys.executable, "-IS", __file__, os.path.realpath(directory), *command]


@cache
def why_refused() -> str:
    """Return why no command can have a directory of its own there; empty when one can."""
    with tempfile.TemporaryDirectory() as directory:
        ended = subprocess.run(  # noqa: S603 - this module, and a Python that does nothing
            command_in(Path(directory), [sys.executable, "-IS", "-c", ""]),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    return ended.stderr.strip().removeprefix("error: ") if ended.returncode else ""


def become(directory: Path, command: Sequence[str]) -> NoReturn:
    """Enter the namespace and become the command; this process must have one thread.

    Raises:
        NamespaceError: The kernel forbids it; the message says what to do.
        OSError: The directory or the program cannot be used.
    """
    enter(directory)
    for name in ("SIGPIPE", "SIGXFSZ", "SIGXFZ"):
        # Python ignores these for itself, and what is ignored stays ignored in the command.
        if number := getattr(signal, name, None):
            signal.signal(number, signal.SIG_DFL)
    try:
        os.execvp(command[0], list(command))  # noqa: S606 - running the user's command is the purpose
    except OSError as error:
        reason = f"cannot run {command[0]}: {error.strerror}"
        raise OSError(error.errno, reason) from error


def enter(directory: Path, target: str = KUBELET_DIRECTORY) -> None:
    """Move this process into namespaces of its own, with the directory bound over the target.

    The target need not exist, and nothing is made on the real file system: a directory in memory
    then takes the place of the nearest one above it that does exist, with all that is in there.

    Raises:
        NamespaceError: The kernel forbids it; the message says what to do.
        OSError: The directory cannot be used.
    """
    source = os.path.realpath(directory)
    if not Path(source).is_dir():
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), source)
    _unshare()
    try:
        _mount("none", "/", "", _MS_REC | _MS_PRIVATE)
        if not Path(target).is_dir():
            _make_room(target)
        _mount(source, target, "", _MS_BIND | _MS_REC)
    except OSError as error:
        if isinstance(error, NamespaceError):
            raise
        raise _refused(error, f"mounting {source} there") from error


def _unshare() -> None:
    """Give this process its own mounts; with a user namespace where that takes one."""
    if os.geteuid() == 0:
        # A root that may mount stays what it is: nothing else changes for the command.
        with suppress(OSError):
            _call("unshare", _CLONE_NEWNS)
            return
    user, group = os.geteuid(), os.getegid()
    try:
        _call("unshare", _CLONE_NEWUSER | _CLONE_NEWNS)
        # A user may map the own group only after giving up to change groups.
        Path("/proc/self/setgroups").write_text("deny", encoding="ascii")
        Path("/proc/self/uid_map").write_text(f"0 {user} 1", encoding="ascii")
        Path("/proc/self/gid_map").write_text(f"0 {group} 1", encoding="ascii")
    except OSError as error:
        raise _refused(error, "a user namespace") from error


def _make_room(target: str) -> None:
    """Have an empty directory at the target, which does not exist or is no directory."""
    above, missing = os.path.split(target)
    while not Path(above).is_dir():
        above, missing = os.path.split(above)
    if above == "/":
        reason = f"cannot put a directory at {target}: there is no /{missing}; make one, as root"
        raise NamespaceError(errno.ENOENT, reason)
    here = os.open(".", os.O_PATH | os.O_DIRECTORY)
    covered = os.open(above, os.O_RDONLY | os.O_DIRECTORY)
    try:
        entries = [(entry.name, entry.stat(follow_symlinks=False)) for entry in os.scandir(covered)]
        _mount("tmpfs", above, "tmpfs", 0, "mode=0755")
        os.fchdir(covered)  # from here on, a relative name is one of what is covered
        for name, status in entries:
            if name != missing:
                _show_again(name, os.path.join(above, name), status)  # noqa: PTH118 - a relative name goes with it
        os.makedirs(target)  # noqa: PTH103 - the twin of `os.path` above
    finally:
        os.fchdir(here)
        os.close(here)
        os.close(covered)
    with suppress(OSError):
        # Below what was covered, the current directory is reached by its name only.
        os.chdir(os.getcwd())  # noqa: PTH109 - with `os.chdir`


def _show_again(name: str, place: str, status: os.stat_result) -> None:
    """Show one covered entry of the current directory at its place.

    What has vanished meanwhile, or cannot be shown, is left out: the command hardly needs it.
    """
    with suppress(OSError):
        if stat.S_ISLNK(status.st_mode):
            os.symlink(os.readlink(name), place)  # noqa: PTH115, PTH211 - relative to what is covered
            return
        if stat.S_ISDIR(status.st_mode):
            Path(place).mkdir()
        else:
            Path(place).touch()
        _mount(name, place, "", _MS_BIND | _MS_REC)


def _refused(error: OSError, what: str) -> NamespaceError:
    """Return the error that says what the kernel refused, and what may be done about it."""
    found = [
        f"{name.replace('/', '.')} is {value}" for name, value in _SYSCTLS if _sysctl(name) == value
    ]
    unknown = f"{os.strerror(error.errno or 0)}: seccomp, a container or a chroot may forbid it"
    reason = (
        f"{KUBELET_DIRECTORY} cannot be made private: the kernel refuses {what} "
        f"({'; '.join(found) or unknown}); allow it, or give the plugin the node's directory by "
        "a flag of its own"
    )
    return NamespaceError(error.errno, reason)


def _sysctl(name: str) -> str:
    try:
        return Path("/proc/sys", name).read_text(encoding="ascii").strip()
    except OSError:
        return ""


def _mount(source: str, target: str, kind: str, flags: int, options: str = "") -> None:
    """Call mount(2)."""
    texts = [os.fsencode(text) if text else None for text in (source, target, kind)]
    _call("mount", *texts, ctypes.c_ulong(flags), options.encode() or None)


def _call(name: str, *arguments: bytes | int | ctypes.c_ulong | None) -> None:
    """Call a function of the C library that returns 0 or sets errno.

    Raises:
        OSError: It failed, or this system has no such function.
    """
    function = getattr(ctypes.CDLL(None, use_errno=True), name, None)
    if function is None:
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))
    if function(*arguments) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


def main(arguments: Sequence[str]) -> NoReturn:
    """Run as a program: the directory, then the command."""
    try:
        become(Path(arguments[0]), arguments[1:])
    except OSError as error:
        place = f"{error.filename}: " if error.filename else ""
        sys.stderr.write(f"error: {place}{error.strerror}\n")
        sys.exit(ENVIRONMENT)


if __name__ == "__main__":
    main(sys.argv[1:])
