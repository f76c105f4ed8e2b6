"""A headless Chromium, spoken to over a pipe: what a page logs, asks for, and shows."""

from __future__ import annotations

import fcntl
import itertools
import json
import os
import select
import shutil
import signal
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, TypeAlias

CHROMIUM: Final = next(
    (
        found
        for name in ("chromium", "chromium-browser", "google-chrome")
        if (found := shutil.which(name))
    ),
    None,
)
_FLAGS: Final = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--remote-debugging-pipe",
)
_PATIENCE_S: Final = 90
Message: TypeAlias = Mapping[str, Any]


@dataclass
class Page:
    """One tab.

    Attributes:
        problems: Errors and warnings that the page logged, and exceptions that it did not catch.
        requests: Addresses that it asked for.
    """

    _write: int
    _read: int
    _session: str = ""
    _ids: Iterator[int] = field(default_factory=lambda: itertools.count(1))
    _rest: bytes = b""
    _events: list[Message] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def attach(self) -> None:
        """Make a tab and listen to it."""
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        attached = self.call("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **parameters: object) -> Message:
        """Call a method of the browser's protocol."""
        number = next(self._ids)
        session = {"sessionId": self._session} if self._session else {}
        message = {"id": number, "method": method, "params": parameters, **session}
        os.write(self._write, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == number:
                assert "error" not in answer, answer
                result: Message = answer["result"]
                return result

    def open(self, file: Path, *, width: int = 1280, dark: bool = False) -> None:
        """Load a file and wait until it has loaded."""
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width, height=900, deviceScaleFactor=1, mobile=False,
        )  # fmt: skip
        self._events.clear()
        self.call("Page.navigate", url=file.as_uri())
        while not any(event["method"] == "Page.loadEventFired" for event in self._events):
            self._next()

    def evaluate(self, expression: str) -> Any:  # noqa: ANN401 - whatever the page's script returns
        """Evaluate JavaScript in the page; a promise is waited for."""
        answer = self.call(
            "Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True
        )
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def _next(self) -> Message:
        deadline = time.monotonic() + _PATIENCE_S
        while b"\0" not in self._rest:
            ready, _, _ = select.select([self._read], [], [], deadline - time.monotonic())
            assert ready, "the browser does not answer"
            chunk = os.read(self._read, 1 << 20)
            assert chunk, "the browser has ended"
            self._rest += chunk
        text, _, self._rest = self._rest.partition(b"\0")
        message: Message = json.loads(text)
        if "method" in message:
            self._take(message["method"], message["params"])
            self._events.append(message)
        return message

    def _take(self, method: str, parameters: Message) -> None:
        if method == "Runtime.exceptionThrown":
            self.problems.append(str(parameters["exceptionDetails"]))
        elif method == "Runtime.consoleAPICalled" and parameters["type"] in {"error", "warning"}:
            self.problems.append(str(parameters["args"]))
        elif method == "Log.entryAdded":
            self.problems.append(str(parameters["entry"]))
        elif method == "Network.requestWillBeSent":
            self.requests.append(parameters["request"]["url"])


@contextmanager
def browser(profile: Path) -> Iterator[Page]:
    """Run the browser with a new, empty profile."""
    assert CHROMIUM is not None
    their_read, our_write = os.pipe()
    our_read, their_write = os.pipe()
    # The browser reads 3 and writes 4; high numbers keep one from being overwritten by the other.
    ends = [fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 100) for end in (their_read, their_write)]
    process = os.posix_spawn(
        CHROMIUM,
        [CHROMIUM, *_FLAGS, f"--user-data-dir={profile}", "about:blank"],
        os.environ,
        file_actions=[
            (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
            (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0),
            (os.POSIX_SPAWN_DUP2, ends[0], 3),
            (os.POSIX_SPAWN_DUP2, ends[1], 4),
        ],
    )
    for end in (their_read, their_write, *ends):
        os.close(end)
    page = Page(our_write, our_read)
    try:
        page.attach()
        yield page
    finally:
        os.kill(process, signal.SIGTERM)
        os.waitpid(process, 0)
        os.close(our_write)
        os.close(our_read)
