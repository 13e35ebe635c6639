"""A hook whose run is to lie in a bucket: it writes to a folder of this machine, and the program trainwarden mirrors that.

The folder is .buckets/BUCKET/PREFIX in the folder of runs. The program has a session of its own, outlives the training, and
ends when the run is over and all of it is there. A lock beside the folder, FOLDER.mirror.lock, is the program's as long as
it lives: of several ranks, and of several trainings after each other, one starts it. What goes wrong is in FOLDER.mirror.log.
"""

from __future__ import annotations

import _thread
import fcntl
import logging
import os
import time
from typing import Any, Optional

from . import _core
from ._ending import at_end
from ._places import is_in_bucket as is_in_bucket
from ._run_names import runs_folder
from .errors import Error, InvalidArgument
from .faults import say

_LAST_WAIT_S = 30.0
_GLANCE_S = 0.05
_LOOK_S = 0.5
_SAID_BYTES = 4096
_AS_NO_CHILD = '"$0" "$@" &'  # of the training's: programs wait for all of theirs

_logger = logging.getLogger("trainwarden")
_copies: dict[str, Copy] = {}  # by folder


def folder_of(address: str) -> str:
    """Where the run of this address is written: the same for all ranks on this machine.

    Raises:
        InvalidArgument: there is no bucket or no prefix in it, or "." or "..".
    """
    scheme, _, rest = address.partition("://")
    parts = rest.rstrip("/").split("/")
    if len(parts) < 2 or any(part in ("", ".", "..") for part in parts):
        raise InvalidArgument(f'{address}: expected {scheme}://BUCKET/PREFIX for a run, without "." and ".."')
    # No bucket has a name of two letters.
    return os.path.join(runs_folder(), ".buckets", *([] if scheme == "s3" else [scheme]), *parts)


class Copy:
    """A run's copy in a bucket, and who sends it. Threads: any."""

    def __init__(self, folder: str, address: str):
        self.folder = folder
        self.address = address.rstrip("/")
        self._was_started = False  # here
        self._of = os.getpid()
        self._telling = _thread.allocate_lock()
        self._was_told = False  # why it could not be sent
        self._has_more = False  # that came when the run was over, and the program may have looked before

    def start(self) -> None:
        """Starts the program, unless it runs. What is wrong is logged: the training goes on."""
        import subprocess

        from . import _program

        if not os.path.exists(os.path.join(self.folder, "run.json")):
            return  # a hook that writes nothing
        _copies[self.folder] = self
        try:
            lock = self._take_lock()
            if lock is None:
                return
            try:
                with open(f"{self.folder}.mirror.log", "wb") as log:
                    subprocess.run(
                        ["/bin/sh", "-c", _AS_NO_CHILD, _program.find(), "mirror", self.folder, self.address],
                        stdin=subprocess.DEVNULL,
                        stdout=subprocess.DEVNULL,  # that all is there
                        stderr=log,
                        pass_fds=(lock,),  # its own from now on
                        start_new_session=True,
                    )
                self._was_started, self._was_told = True, False
            finally:
                os.close(lock)
        except (Error, OSError) as problem:
            _logger.warning("the run stays in %s: nothing sends it to %s: %s", self.folder, self.address, problem)
            return
        _thread.start_new_thread(self._watch, ())  # none of those that threading knows, and the program waits for

    def finish(self) -> None:
        """At the end of the program, when its hooks are closed: waits a while for what is not there yet, and says what
        becomes of it. Other ranks that still train are not waited for."""
        if self._of != os.getpid():
            return
        if self._was_started and not self._has_more and not self._is_sending():
            self._tell()
            return  # it ends by itself when the run is over
        deadline_s = time.monotonic() + _LAST_WAIT_S
        while self._has_more and self._is_sending() and time.monotonic() < deadline_s:
            time.sleep(_GLANCE_S)
        self._has_more = False
        self.start()  # does nothing as a rule: another rank's may have ended before this one had begun
        while self._is_sending():
            if self._is_written() or time.monotonic() >= deadline_s:
                _logger.warning(
                    "%s is not whole yet: trainwarden goes on sending it, and `trainwarden mirror %s %s` does after that",
                    self.address,
                    self.folder,
                    self.address,
                )
                return
            time.sleep(_GLANCE_S)
        self._tell()

    def _take_lock(self) -> Optional[int]:
        """None: somebody has it."""
        lock = os.open(f"{self.folder}.mirror.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(lock)
            return None
        except OSError:
            os.close(lock)
            raise
        return lock

    def _is_sending(self) -> bool:
        try:
            lock = self._take_lock()
        except OSError:
            return False
        if lock is None:
            return True
        os.close(lock)
        return False

    def _is_written(self) -> bool:
        """Does another rank still write the run?"""
        try:
            return str(_core.Trial(self.folder, 1000, True).state) == "running"
        except Error:
            return False

    def _watch(self) -> None:
        """In a thread. It says nothing through logging, which makes it one of threading's."""
        while self._is_sending():
            time.sleep(_LOOK_S)
        self._tell()

    def _tell(self) -> None:
        """The program has ended here: once, why it could not send the run. At the end of the training, too, which may come
        before the thread has looked."""
        with self._telling:
            problem = "" if self._was_told or not self._was_started else self._said()  # nothing, when all is there
            if problem:
                self._was_told = True
                again = f"`trainwarden mirror {self.folder} {self.address}` does it later"
                say(f"the run stays in {self.folder}: it could not be sent to {self.address}: {problem}; {again}")

    def _said(self) -> str:
        from . import _program

        try:
            with open(f"{self.folder}.mirror.log", "rb") as log:
                return _program.plain(log.read(_SAID_BYTES).decode(errors="replace"))
        except OSError:
            return ""


def added_to(folder: str) -> None:
    """Files were put into the folder of a run that is over: they are to be in its bucket, too, if it has one."""
    for copy in _copies.values():
        copy._has_more |= os.path.realpath(copy.folder) == os.path.realpath(folder)


def redirect(options: Any) -> Optional[Copy]:
    """When these options of a hook name a place in a bucket, they name the folder from now on. None: they do not."""
    if options is None or not is_in_bucket(options.run_dir):
        return None
    folder, address = folder_of(options.run_dir), options.run_dir
    os.makedirs(os.path.dirname(folder), exist_ok=True)
    options.run_dir = folder
    copy = _copies.get(folder)
    if copy is None or copy._of != os.getpid():
        copy = Copy(folder, address)
    return copy


@at_end  # before that of hooks, which is therefore called earlier
def _finish_copies() -> None:
    try:
        for copy in list(_copies.values()):
            copy.finish()
    except KeyboardInterrupt:
        _logger.warning("left before everything was sent; trainwarden goes on")
