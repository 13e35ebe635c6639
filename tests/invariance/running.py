"""Running: one program started, alone or under `trainwarden run`, and everything that can be seen of it from outside."""

from __future__ import annotations

import json
import os
import resource
import shlex
import shutil
import signal
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Optional

HERE = Path(__file__).resolve().parent
_RULE_FIRED = 3  # exit code of `trainwarden run` where the program itself ended with 0
_HUNG = -1000  # also in batch.py
# What a process that imports torch itself has of memory besides: a fork has it only where it touches it.
_SHARED_MIB = 100.0
# What a fork has twice of the package, as it writes counts of references into what its parent has imported.
_COPIED_MIB = 16.0
_OWN_LINE = b"trainwarden:"


@dataclass
class Seen:
    """What one execution of a program showed."""

    code: int
    out: bytes
    err: bytes
    seconds: float
    cpu_seconds: float  # of all its processes
    peak_mib: float
    files: list[str]

    @property
    def hung(self) -> bool:
        return self.code == _HUNG


@dataclass
class Runner:
    """Runs programs, each in a folder of its own that is empty before and removed afterwards."""

    cli: str
    python: str
    scratch: Path
    timeout_s: float = 90.0

    def alone(self, name: str, program: Path, *arguments: str) -> Seen:
        return self._start(name, [self.python, str(program), *arguments])

    def watched(self, name: str, rules: str, program: Path, *arguments: str) -> Seen:
        """`rules`: what --rules gets; "" for a run that is not judged."""
        runs = self.scratch / "runs" / name
        shutil.rmtree(runs, ignore_errors=True)
        judged = ["--rules", rules] if rules else []
        command = [self.cli, "run", "--name", "r", "--runs", str(runs), *judged, "--"]
        seen = self._start(name, [self.python, str(program), *arguments], command)
        seen.err = without_own_lines(seen.err)
        shutil.rmtree(runs, ignore_errors=True)
        return seen

    def batch(self, name: str, rules: Optional[str], programs: Sequence[Path]) -> list[Seen]:
        """Many programs in forks of one process (batch.py): alone, where `rules` is None, or watched."""
        base, runs = self.scratch / "work" / name, self.scratch / "runs" / name
        for each in (base, runs):
            shutil.rmtree(each, ignore_errors=True)
        (base / "home").mkdir(parents=True)
        command = [self.python, str(HERE / "batch.py"), str(base), str(self.timeout_s), *map(str, programs)]
        if rules is not None:
            judged = ["--rules", rules] if rules else []
            command = [self.cli, "run", "--name", "r", "--runs", str(runs), *judged, "--", *command]
        environment = _environment(base, base / "home")
        done = subprocess.run(command, cwd=base, env=environment, capture_output=True, text=True, start_new_session=True)
        besides_mib = _SHARED_MIB - (_COPIED_MIB if rules is not None else 0.0)
        seen = [_of_fork(base, json.loads(line), besides_mib) for line in done.stdout.splitlines()]
        if len(seen) != len(programs):
            raise RuntimeError(f"a batch ended after {len(seen)} of {len(programs)} programs: {done.stderr[-500:]}")
        for each in (base, runs):
            shutil.rmtree(each, ignore_errors=True)
        return seen

    def _start(self, name: str, program: list[str], under: Sequence[str] = ()) -> Seen:
        """The folder has the same path each time, as programs may print it. A shell gives the program standard errors of
        its own, apart from those of `under`, and becomes the program."""
        base = self.scratch / "work" / name
        shutil.rmtree(base, ignore_errors=True)
        folder, temporary, home = base / "folder", base / "tmp", base / "home"
        for each in (folder, temporary, home):
            each.mkdir(parents=True)
        command = [*under, "/bin/sh", "-c", f'exec "$0" "$@" 2>{shlex.quote(str(base / "err"))}', *program]
        with open(base / "out", "wb") as out, open(base / "said", "wb") as said:
            begin = time.monotonic()
            code, used = self._follow(command, folder, _environment(temporary, home), out.fileno(), said.fileno())
            seconds = time.monotonic() - begin
        files = sorted(_listing(base, folder) + _listing(base, temporary) + _listing(base, home))
        out_bytes, err_bytes = (base / "out").read_bytes(), (base / "err").read_bytes()
        seen = Seen(code, out_bytes, err_bytes, seconds, _cpu_seconds(used), used.ru_maxrss / 1024, files)
        shutil.rmtree(base, ignore_errors=True)
        return seen

    def _follow(
        self, command: list[str], folder: Path, environment: dict[str, str], out: int, err: int
    ) -> tuple[int, resource.struct_rusage]:
        """Exit code, as a shell has it, and what it used; the memory is that of the largest process."""
        child = subprocess.Popen(
            command, cwd=folder, stdin=subprocess.DEVNULL, stdout=out, stderr=err, env=environment, start_new_session=True
        )
        until = time.monotonic() + self.timeout_s
        while True:
            pid, status, used = os.wait4(child.pid, os.WNOHANG)
            if pid != 0:
                break
            if time.monotonic() > until:
                os.killpg(child.pid, signal.SIGKILL)
                _, _, used = os.wait4(child.pid, 0)
                return _HUNG, used
            time.sleep(0.02)
        _end_group(child.pid)
        child.returncode = 0  # it has been waited for
        code = os.waitstatus_to_exitcode(status)
        return (128 - code if code < 0 else code), used


def _of_fork(base: Path, ended: dict[str, float], besides_mib: float) -> Seen:
    """What a program of a batch showed. `besides_mib`: what it would have of memory more in a process of its own."""
    own = base / str(ended["number"])
    out, err = ((own / name).read_bytes() if (own / name).exists() else b"" for name in ("out", "err"))
    files = sorted(_listing(own, own / "folder") + _listing(own, own / "tmp"))
    peak_mib = ended["peak_kib"] / 1024 + besides_mib
    times = ended["seconds"], ended["cpu_seconds"]
    return Seen(int(ended["code"]), out, without_own_lines(err), *times, peak_mib, files)


def _cpu_seconds(used: resource.struct_rusage) -> float:
    return used.ru_utime + used.ru_stime


def _end_group(group: int) -> None:
    """What a program leaves running does not outlive its comparison."""
    try:
        os.killpg(group, signal.SIGKILL)
    except ProcessLookupError:
        pass


def _environment(temporary: Path, home: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("TRAINWARDEN_", "PYTHON"))}
    ours = {"OMP_NUM_THREADS": "1", "PYTHONPATH": str(HERE / "programs"), "PYTHONDONTWRITEBYTECODE": "1"}
    return {**kept, **ours, "TMPDIR": str(temporary), "HOME": str(home)}


def _listing(base: Path, folder: Path) -> list[str]:
    """But for folders of multiprocessing: it is chance whether a worker of a data loader has removed its own by then."""
    found = []
    for path in (each for each in folder.rglob("*") if not any(part.startswith("pymp-") for part in each.parts)):
        size = path.stat().st_size if path.is_file() and not path.is_symlink() else 0
        found.append(f"{path.relative_to(base)} {size}")
    return found


def without_own_lines(err: bytes) -> bytes:
    """Standard error of a program without what the package says in it."""
    lines = err.splitlines(keepends=True)
    return b"".join(line for line in lines if not line.startswith(_OWN_LINE))


def is_rule_alone(alone: Seen, watched: Seen) -> bool:
    """Did the program end well, and `run` say only that a rule fired?"""
    return alone.code == 0 and watched.code == _RULE_FIRED
