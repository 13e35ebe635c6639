"""Faults of an adapter end here: the training continues."""

from __future__ import annotations

import functools
import sys
import threading
from types import FrameType
from typing import Any, Callable, TypeVar

from ._core import frame_variables

# After so many faults the adapters detach themselves: something is thoroughly wrong, and each fault costs time.
TOLERATED_FAULTS = 10
_MAX_SHOWN = 50
_MAX_LINE = 300

_TAKES_ANY = 0x04  # CO_VARARGS: a function with *args

_Function = TypeVar("_Function", bound=Callable[..., Any])
_lock = threading.Lock()
_count = 0
_shown: set[str] = set()
_give_up: list[Callable[[], None]] = []


def failures() -> int:
    """How often a fault of an adapter, or of a function given to it, was kept from the training in this process."""
    return _count


def on_too_many(action: Callable[[], None]) -> None:
    """`action` is called when the tolerated number of faults is passed."""
    if action not in _give_up:
        _give_up.append(action)


def report(doing: str, error: BaseException) -> None:
    """Counts a fault, and logs to standard error the first one of its kind."""
    global _count
    with _lock:
        _count += 1
        is_last = _count == TOLERATED_FAULTS
        is_news = doing not in _shown and len(_shown) < TOLERATED_FAULTS
        _shown.add(doing)
    if is_news:
        say(f"error: could not {doing}: {type(error).__name__}: {first_line(error)}")
    if is_last:
        say(f"error: {TOLERATED_FAULTS} faults of the adapter: nothing more is captured in this process")
        for action in _give_up:
            action()


def end_or_raise(doing: str, error: Exception) -> None:
    """A fault of ours ends here and is counted; what a signal handler of the program has raised goes on to the program."""
    if is_of_signal_handler(error):
        raise error
    report(doing, error)


def is_of_signal_handler(error: BaseException) -> bool:
    """Python runs signal handlers between any two steps of a program, also of ours. A handler is called with the number of
    the signal and the frame that was interrupted."""
    trace = error.__traceback__
    while trace is not None:
        code = trace.tb_frame.f_code
        names = code.co_varnames[: code.co_argcount]
        if len(names) >= 2 or code.co_flags & _TAKES_ANY:
            values = list(frame_variables(trace.tb_frame).values())
            if any(type(value) is FrameType for value in _flat(values)):
                return str(dict.get(trace.tb_frame.f_globals, "__name__")).partition(".")[0] != "trainwarden"
        trace = trace.tb_next
    return False


def _flat(values: list[Any]) -> list[Any]:
    return [each for value in values for each in (value if type(value) is tuple else (value,))]


def first_line(error: BaseException) -> str:
    """What an error says, without the stack of C++ that some libraries put behind it."""
    text = str(error).strip()
    if text.startswith("in user code:"):  # TensorFlow's, which says last what has happened
        return text.rpartition("\n")[2].strip()[:_MAX_LINE]
    return text.partition("\n")[0][:_MAX_LINE]


def say(message: str) -> None:
    """One line on standard error, if there is one."""
    try:
        print(f"trainwarden: {message}", file=sys.stderr, flush=True)
    except Exception:  # closed, or a full pipe: nothing more can be reported
        pass


def say_once(message: str) -> None:
    """The same, but a message that was said already is not said again."""
    with _lock:
        is_news = message not in _shown and len(_shown) < _MAX_SHOWN
        _shown.add(message)
    if is_news:
        say(message)


def guarded(doing: str) -> Callable[[_Function], _Function]:
    """A function that never raises into the training: it gives None in place of a fault.

    KeyboardInterrupt and SystemExit, StopTraining with it, are the program's and pass through.
    """

    def decorate(function: _Function) -> _Function:
        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            try:
                return function(*args, **kwargs)
            except Exception as error:
                end_or_raise(doing, error)
                return None

        return call  # type: ignore[return-value]

    return decorate
