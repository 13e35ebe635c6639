#!/usr/bin/env python3
"""Runs many programs, each in a fork of one process that has imported torch.

usage: batch.py FOLDER TIMEOUT PROGRAM...

compare.py and generator.py start it, alone and under `trainwarden run`: to import torch, and to take the interpreter apart
at the end, takes longer than most programs. So a fork ends by os._exit() when its threads and its functions of atexit
are through. Each program gets a folder FOLDER/NUMBER with its output (out), its errors (err) and what it leaves behind
(folder, tmp), and is `__main__` there. Prints a line of JSON for each.
"""

from __future__ import annotations

import atexit
import gc
import json
import os
import resource
import signal
import sys
import threading
import time
import traceback
import types
from pathlib import Path

import numpy  # noqa: F401  (for the programs)
import torch  # noqa: F401  (for the programs)

HUNG = -1000


def be(program: Path, base: Path) -> int:
    """This process is the program from now on. Its exit code."""
    _prepare(base)
    sys.argv[:] = [str(program)]
    sys.path[0] = str(program.parent)
    main = types.ModuleType("__main__")
    main.__file__ = str(program)
    sys.modules["__main__"] = main
    try:
        exec(compile(program.read_bytes(), program, "exec"), vars(main))
    except SystemExit as end:
        return _code_of(end.code)
    except BaseException as error:
        error.__traceback__ = error.__traceback__ and error.__traceback__.tb_next  # without this file
        traceback.print_exception(error)
        return 1
    return 0


def _prepare(base: Path) -> None:
    folder, temporary = base / "folder", base / "tmp"
    for each in (folder, temporary):
        each.mkdir(parents=True)
    os.setpgid(0, 0)
    os.environ["TMPDIR"] = str(temporary)
    os.chdir(folder)
    for number, name in ((1, "out"), (2, "err")):
        file = os.open(base / name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(file, number)
        os.close(file)


def _code_of(given: object) -> int:
    if given is None or isinstance(given, int):
        return (given or 0) & 255
    print(given, file=sys.stderr)
    return 1


def leave(code: int) -> None:
    """Ends this process as the interpreter does, but for taking its modules apart."""
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (AttributeError, OSError, ValueError):
            pass
    os._exit(code)


def follow(child: int, timeout_s: float) -> tuple[int, resource.struct_rusage]:
    """Exit code, as a shell has it, and what it used. What the child leaves running is ended with it."""
    until = time.monotonic() + timeout_s
    while True:
        pid, status, used = os.wait4(child, os.WNOHANG)
        if pid != 0 or time.monotonic() > until:
            break
        time.sleep(0.002)
    try:
        os.killpg(child, signal.SIGKILL)
    except ProcessLookupError:
        pass
    if pid == 0:
        _, _, used = os.wait4(child, 0)
        return HUNG, used
    code = os.waitstatus_to_exitcode(status)
    return (128 - code if code < 0 else code), used


def main() -> None:
    """Follows a fork for each program."""
    folder, timeout_s, programs = Path(sys.argv[1]), float(sys.argv[2]), sys.argv[3:]
    gc.freeze()  # so that no fork copies everything when it collects its garbage
    for number, program in enumerate(programs):
        begin = time.monotonic()
        child = os.fork()
        if child == 0:
            leave(be(Path(program), folder / str(number)))
        code, used = follow(child, timeout_s)
        ended = {"number": number, "code": code, "seconds": time.monotonic() - begin, "peak_kib": used.ru_maxrss}
        print(json.dumps({**ended, "cpu_seconds": used.ru_utime + used.ru_stime}), flush=True)


if __name__ == "__main__":
    main()
