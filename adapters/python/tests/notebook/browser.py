"""Chromium, driven over a pipe: what a page has become once it has drawn what a test waits for.

Its own --dump-dom counts virtual time, which runs out before a busy machine has drawn anything.
"""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

SECONDS = 120
_OPTIONS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--window-size=1280,900", "--remote-debugging-pipe",
)  # fmt: skip


class Browser:
    """Speaks the DevTools protocol (chromedevtools.github.io/devtools-protocol): JSON, each ended by a zero byte."""

    def __init__(self, chromium: str, profile: Path) -> None:
        self._calls = 0
        commands_out, commands_in = os.pipe()
        answers_out, answers_in = os.pipe()
        # Chromium reads descriptor 3 and writes 4, whatever ours are.
        script = f'exec "$@" 3<&{commands_out} 4>&{answers_in}'
        command = ["bash", "-c", script, "bash", chromium, *_OPTIONS, f"--user-data-dir={profile}"]
        self._process = subprocess.Popen(
            command, pass_fds=(commands_out, answers_in), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        os.close(commands_out)
        os.close(answers_in)
        self._commands = os.fdopen(commands_in, "wb", buffering=0)
        self._answers = os.fdopen(answers_out, "rb")

    def __enter__(self) -> Browser:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()
        self._commands.close()
        self._answers.close()

    def document_when(self, url: str, is_drawn: Callable[[str], bool]) -> str:
        """The HTML of the page at `url` once `is_drawn` says so; what it is after SECONDS where it never does."""
        target = self._call("Target.createTarget", {"url": url})["targetId"]
        session = self._call("Target.attachToTarget", {"targetId": target, "flatten": True})["sessionId"]
        end = time.monotonic() + SECONDS
        what = {"expression": "document.documentElement?.outerHTML ?? ''", "returnByValue": True}
        while True:
            answer = self._answer("Runtime.evaluate", what, session)
            # While the page at `url` takes the place of the empty one there is nothing to ask: an error, or no value.
            document = str(answer.get("result", {}).get("result", {}).get("value", ""))
            if is_drawn(document) or time.monotonic() > end:
                return document
            time.sleep(0.05)

    def _call(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        answer = self._answer(method, params)
        assert "error" not in answer, answer
        return dict(answer["result"])

    def _answer(self, method: str, params: dict[str, Any], session: str = "") -> dict[str, Any]:
        self._calls += 1
        call = {"id": self._calls, "method": method, "params": params, **({"sessionId": session} if session else {})}
        self._commands.write(json.dumps(call).encode() + b"\0")
        while True:
            answer = json.loads(self._next_message())
            if answer.get("id") == self._calls:
                return dict(answer)

    def _next_message(self) -> bytes:
        message = bytearray()
        while (byte := self._answers.read(1)) != b"\0":
            assert byte, "Chromium has ended"
            message += byte
        return bytes(message)
