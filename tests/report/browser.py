"""Headless Chromium on its debugging pipe: opens a page, and tells what it logged, asked for and shows."""

from __future__ import annotations

import base64
import contextlib
import fcntl
import json
import os
import select
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any, NoReturn

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
PATIENCE = 120.0  # seconds for one answer; a busy machine is slow


def find() -> str | None:
    """Where Chromium is; ``EVALCI_CHROMIUM`` says it where it is not on the path."""
    named = os.environ.get("EVALCI_CHROMIUM")
    return named or next((found for name in NAMES if (found := shutil.which(name))), None)


class Browser:
    """One Chromium with one tab. Messages of the tab are kept in ``events``."""

    def __init__(self, program: str) -> None:
        self._dead = ""
        self._home = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self._log = Path(self._home.name) / "stderr.txt"
        to_it, self._out = os.pipe()
        self._in, from_it = os.pipe()
        high = [fcntl.fcntl(fd, fcntl.F_DUPFD, 100) for fd in (to_it, from_it)]
        flags = (
            "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--hide-scrollbars",
            "--disable-background-networking", "--disable-component-update", "--disable-extensions", "--remote-debugging-pipe",
            f"--user-data-dir={self._home.name}",
        )  # fmt: skip

        def take_pipes() -> None:
            os.dup2(high[0], 3)
            os.dup2(high[1], 4)

        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                [program, *flags, "about:blank"], preexec_fn=take_pipes, pass_fds=(3, 4), stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL, stderr=log, start_new_session=True,
            )  # fmt: skip
        for fd in (*high, to_it, from_it):
            os.close(fd)
        self._number, self._rest, self._session = 0, b"", None
        self.events: list[dict[str, Any]] = []
        try:
            target = self.send("Target.createTarget", url="about:blank")["targetId"]
            self._session = self.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
            for domain in ("Page", "Runtime", "Log", "Network"):
                self.send(f"{domain}.enable")
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """End it, and the processes that it began."""
        try:
            self._session = None
            self.send("Browser.close")
            self._process.wait(20)
        except (OSError, RuntimeError, subprocess.TimeoutExpired):
            self._kill()
        os.close(self._out)
        os.close(self._in)
        self._home.cleanup()

    def _kill(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)  # it leads a session of its own
        self._process.wait(20)

    def _give_up(self, why: str) -> NoReturn:
        """No later test waits for a browser that does not answer."""
        self._kill()
        said = self._log.read_text(errors="replace").strip()[-500:]
        self._dead = f"Chromium {why}, so it was ended{f'; it said: {said}' if said else ''}"
        raise RuntimeError(self._dead)

    def send(self, method: str, **params: Any) -> dict[str, Any]:
        """A command and its answer."""
        if self._dead:
            raise RuntimeError(self._dead)
        self._number += 1
        message = {"id": self._number, "method": method, "params": params}
        if self._session is not None:
            message["sessionId"] = self._session
        try:
            os.write(self._out, json.dumps(message).encode() + b"\0")
        except BrokenPipeError:
            self._give_up("is gone")
        while True:
            answer = self._read()
            if answer.get("id") == self._number:
                if "error" in answer:
                    raise RuntimeError(answer["error"])
                return answer["result"]
            self.events.append(answer)

    def _read(self) -> dict[str, Any]:
        end = time.monotonic() + PATIENCE
        while b"\0" not in self._rest:
            ready, _, _ = select.select([self._in], [], [], max(0.0, end - time.monotonic()))
            if not ready:
                self._give_up(f"has not answered for {PATIENCE:.0f} seconds")
            part = os.read(self._in, 1 << 20)
            if not part:
                self._give_up("is gone")
            self._rest += part
        message, _, self._rest = self._rest.partition(b"\0")
        return json.loads(message)

    def open(self, page: Path, width: int, height: int = 800) -> None:
        """Load a file at a width in CSS pixels; ``events`` are then of this page."""
        self.send(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=width < 600,
        )
        self.events.clear()
        self.send("Page.navigate", url=page.resolve().as_uri())
        while not any(one.get("method") == "Page.loadEventFired" for one in self.events):
            self.events.append(self._read())
        self.evaluate("new Promise(done => requestAnimationFrame(() => setTimeout(done, 50)))")

    def evaluate(self, code: str) -> Any:
        """The value of an expression in the page; promises are awaited."""
        answer = self.send("Runtime.evaluate", expression=code, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(answer["exceptionDetails"])
        return answer["result"].get("value")

    def complaints(self) -> list[str]:
        """What the page logged or threw."""
        kinds = ("Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded")
        return [json.dumps(one["params"]) for one in self.events if one.get("method") in kinds]

    def requests(self) -> list[str]:
        """What the page asked for, itself included."""
        sent = [one for one in self.events if one.get("method") == "Network.requestWillBeSent"]
        return [one["params"]["request"]["url"] for one in sent]

    def picture(self, path: Path) -> None:
        """The whole page as a PNG."""
        size = self.send("Page.getLayoutMetrics")["cssContentSize"]
        shot = self.send(
            "Page.captureScreenshot", captureBeyondViewport=True, clip={**size, "x": 0, "y": 0, "scale": 1}
        )
        path.write_bytes(base64.b64decode(shot["data"]))

    def pdf(self, path: Path) -> None:
        """The page as printed."""
        path.write_bytes(base64.b64decode(self.send("Page.printToPDF", printBackground=True)["data"]))
