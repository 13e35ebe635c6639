"""What the race talks to: the process of a contender in Python (arm.py), and the programs of one in C++."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent


class ContenderFailed(Exception):
    """It cannot do its work, or does it wrong."""


def _environment() -> dict[str, str]:
    """Without what would set up our hooks or smdebug's by itself; one thread for who counts with several."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("TRAINWARDEN", "SMDEBUG", "PYTHON"))}
    return kept | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"}


class Answers:
    """A process that answers in lines of JSON."""

    def __init__(self, command: list[str]) -> None:
        pipe = subprocess.PIPE
        self.version = ""
        self._process = subprocess.Popen(
            command, stdin=pipe, stdout=pipe, stderr=sys.stderr, text=True, env=_environment(), cwd=HERE
        )

    def send(self, request: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(request) + "\n")
            self._process.stdin.flush()
        except BrokenPipeError as error:
            raise ContenderFailed("its process has ended") from error

    def answer(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise ContenderFailed(f"its process ended without an answer, with status {self._process.wait()}")
        answer: dict[str, Any] = json.loads(line)
        if "error" in answer:
            raise ContenderFailed(answer["error"])
        return answer

    def end(self) -> None:
        assert self._process.stdin is not None
        try:
            self._process.stdin.close()
            self._process.wait(timeout=10)
        except (BrokenPipeError, subprocess.TimeoutExpired):
            self._process.kill()
            self._process.wait()


class Session:
    """One contender. `ask` does a piece of work and returns nanoseconds by operation."""

    name = ""
    version = ""

    def ask(self, request: dict[str, Any]) -> dict[str, float]:
        process = self._begin(request, "writer")
        try:
            found: dict[str, float] = process.answer()["done"]
        except BaseException:
            self._failed(process)
            raise
        self._done(process)
        return found

    def live(self, request: dict[str, Any], steps: int) -> list[float]:
        """A writer and a reader at the same time: nanoseconds from the first call of a step until the reader has its
        last tensor. The first step, with which both begin, does not count."""
        writer = self._begin({**request, "work": "live-write"}, "writer")
        reader: Answers | None = None
        seen = []
        try:
            for step in range(steps):
                if reader is not None:
                    reader.answer()  # it waits for the step
                writer.send({})
                begin = writer.answer()["begin"]
                if reader is None:
                    reader = self._begin({**request, "work": "live-read"}, "reader")
                    reader.answer()
                end = reader.answer()["seen"]
                if step > 0:
                    seen.append(float(end - begin))
            assert reader is not None
            writer.send({})
            writer.answer()
            reader.answer()
        except BaseException:
            self._failed(writer)
            if reader is not None:
                self._failed(reader)
            raise
        self._done(writer)
        self._done(reader)
        return seen

    def _begin(self, request: dict[str, Any], role: str) -> Answers:
        raise NotImplementedError

    def _done(self, process: Answers) -> None:
        raise NotImplementedError

    def _failed(self, process: Answers) -> None:
        raise NotImplementedError

    def end(self) -> None:
        """Ends its processes."""


class CppSession(Session):
    """A process for each piece of work."""

    def __init__(self, name: str, arm: Path, pool: Path) -> None:
        if not arm.is_file():
            raise ContenderFailed(f"{arm} is not there")
        self.name = name
        self.version = "Trainwarden, C++" if name == "ours" else "write() and read()"
        self._command = [str(arm.resolve()), name]
        self._pool = str(pool)

    def _begin(self, request: dict[str, Any], role: str) -> Answers:
        return Answers([*self._command, request["work"], request["load_file"], self._pool, request["folder"]])

    def _done(self, process: Answers) -> None:
        process.end()

    def _failed(self, process: Answers) -> None:
        process.end()


class PythonSession(Session):
    """A process that stays and has imported all it needs; a second one for the reader of what is live."""

    def __init__(self, name: str, python: str, pool: Path) -> None:
        self.name = name
        self._command = [os.path.abspath(python), str(HERE / "arm.py"), name, str(pool)]
        self._processes: dict[str, Answers] = {}
        self.version = self._process("writer").version

    def _process(self, role: str) -> Answers:
        key = "reader" if role == "reader" else "writer"
        if key not in self._processes:
            process = Answers(self._command)
            try:
                process.version = process.answer()["version"]
            except ContenderFailed:
                process.end()
                raise
            self._processes[key] = process
        return self._processes[key]

    def _begin(self, request: dict[str, Any], role: str) -> Answers:
        process = self._process(role)
        process.send(request)
        return process

    def _done(self, process: Answers) -> None:
        """It stays."""

    def _failed(self, process: Answers) -> None:
        process.end()
        self._processes = {key: kept for key, kept in self._processes.items() if kept is not process}

    def end(self) -> None:
        for process in self._processes.values():
            process.end()
