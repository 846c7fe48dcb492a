"""Headless Chromium, told what to do over a pipe: the DevTools protocol needs no driver and no network."""

from __future__ import annotations

import itertools
import json
import os
import select
import shutil
import signal
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from typing_extensions import Self

NAMES = ("chromium", "chromium-browser", "google-chrome", "chromium-headless-shell", "chrome-headless-shell")
PATIENCE = 120.0
"""Seconds; the first start on a busy machine takes long."""

# A page of our own needs no sandbox, and root may not have one. The rest keeps it from calling its maker.
SWITCHES = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-sync",
    "--no-first-run",
    "--no-default-browser-check",
    "--hide-scrollbars",
    "--remote-debugging-pipe",
)


def found() -> str | None:
    """The browser to use: what RETELL_CHROMIUM names, or the first on the PATH."""
    named = os.environ.get("RETELL_CHROMIUM")
    return named or next(filter(None, map(shutil.which, NAMES)), None)


class Chromium:
    """A browser process; a context manager."""

    def __init__(self, program: str, profile: Path) -> None:
        theirs_in, self._to = os.pipe()
        self._from, theirs_out = os.pipe()
        # The browser reads from 3 and writes to 4, which may be in use here: out of the way, then in place.
        high = [self._moved(end) for end in (theirs_in, theirs_out)]
        files = [(os.POSIX_SPAWN_DUP2, high[0], 3), (os.POSIX_SPAWN_DUP2, high[1], 4)]
        quiet = [(os.POSIX_SPAWN_OPEN, n, os.devnull, os.O_RDWR, 0) for n in (0, 1, 2)]
        command = [program, *SWITCHES, f"--user-data-dir={profile}", "about:blank"]
        self._process = os.posix_spawn(program, command, os.environ, file_actions=quiet + files, setpgroup=0)
        for end in high:
            os.close(end)
        self._read = b""
        self._numbers = itertools.count(1)
        self.events: list[dict[str, Any]] = []

    @staticmethod
    def _moved(end: int) -> int:
        import fcntl  # noqa: PLC0415  # Windows has none, and skips these tests

        moved = fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 10)
        os.close(end)
        return moved

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        try:
            os.write(self._to, b'{"id":0,"method":"Browser.close"}\0')
            self._wait(10)
        except BrokenPipeError:
            pass
        finally:
            os.close(self._to)
            os.close(self._from)

    def _wait(self, seconds: float) -> None:
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            if os.waitpid(self._process, os.WNOHANG)[0]:
                return
            time.sleep(0.02)
        os.killpg(self._process, signal.SIGKILL)
        os.waitpid(self._process, 0)

    def _message(self, until: float) -> dict[str, Any]:
        while b"\0" not in self._read:
            ready = select.select([self._from], [], [], max(0.0, until - time.monotonic()))[0]
            if not ready:
                raise TimeoutError(f"the browser said nothing for {PATIENCE:g} s")
            part = os.read(self._from, 1 << 16)
            if not part:
                raise ConnectionError("the browser ended")
            self._read += part
        text, _, self._read = self._read.partition(b"\0")
        message: dict[str, Any] = json.loads(text)
        if "method" in message:
            self.events.append(message)
        return message

    def call(self, method: str, session: str | None = None, **arguments: Any) -> dict[str, Any]:
        """The answer to one command."""
        number = next(self._numbers)
        command = {"id": number, "method": method, "params": arguments}
        if session:
            command["sessionId"] = session
        os.write(self._to, json.dumps(command).encode() + b"\0")
        until = time.monotonic() + PATIENCE
        while True:
            message = self._message(until)
            if message.get("id") == number:
                assert "error" not in message, f"{method}: {message.get('error')}"
                answer: dict[str, Any] = message["result"]
                return answer

    def open(self, address: str, *, scheme: str = "light", width: int = 1200, height: int = 900) -> Page:
        """A page in a tab of its own, loaded."""
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        page = Page(self, session)
        for domain in ("Page", "Runtime", "Log", "Network"):
            page.call(f"{domain}.enable")
        page.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )
        page.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        page.call("Page.navigate", url=address)
        until = time.monotonic() + PATIENCE
        while not page.heard("Page.loadEventFired"):
            self._message(until)
        return page


class Page:
    """A page that was opened, and what it said since."""

    def __init__(self, browser: Chromium, session: str) -> None:
        self._browser = browser
        self._session = session

    def call(self, method: str, **arguments: Any) -> dict[str, Any]:
        """The answer to one command for this page."""
        return self._browser.call(method, self._session, **arguments)

    def heard(self, method: str) -> list[dict[str, Any]]:
        """What came of one kind of event."""
        mine = (event for event in self._browser.events if event.get("sessionId") == self._session)
        return [event["params"] for event in mine if event["method"] == method]

    def evaluate(self, expression: str) -> Any:
        """The value of a JavaScript expression."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def complaints(self) -> list[Any]:
        """Errors and warnings, from scripts and from the browser."""
        said = [
            event for event in self.heard("Runtime.consoleAPICalled") if event["type"] in ("error", "warning")
        ]
        logged = [event["entry"] for event in self.heard("Log.entryAdded")]
        return [*self.heard("Runtime.exceptionThrown"), *said, *logged]

    def requested(self) -> list[str]:
        """The addresses of everything that was loaded, or tried."""
        return [event["request"]["url"] for event in self.heard("Network.requestWillBeSent")]
