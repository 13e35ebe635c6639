"""Exchange: gives a function of torch another code, which calls ours.

The function stays the object that it was: references that were taken before, default arguments, pickles and
comparisons with `is` mean the same function as ever. To those who look closely (inspect, torch.jit, torch.fx,
torch.compile) it shows torch's own signature, source and globals.
"""

from __future__ import annotations

import functools
import types
from typing import Any, Callable, Optional

from .._passing import PASSED_OVER
from . import gates
from .gates import Around


def is_plain(function: Any) -> bool:
    """Can the code of this function be exchanged: is it one of Python, and no closure?"""
    return isinstance(function, types.FunctionType) and function.__closure__ is None


def innermost(function: Any) -> Any:
    """The function that decorators of torch stand around; itself where there are none."""
    while not is_plain(function) and hasattr(function, "__wrapped__"):
        function = function.__wrapped__
    return function


def put_around(function: Any, around: Around, group: Optional[gates.Gates] = None) -> Callable[[bool], None]:
    """From now on `around` is called around what the function does. What this gives switches that off, and on again, at
    any time and from any thread. `group`: the gates that open and shut with it; it is always open where there is none."""
    torch_function: Any = types.FunctionType(
        function.__code__, function.__globals__, function.__name__, function.__defaults__
    )
    torch_function.__kwdefaults__ = function.__kwdefaults__
    functools.update_wrapper(torch_function, function)
    del torch_function.__wrapped__
    name = function.__name__
    # In torch's globals, under a name that nobody else has: the new code can have no closure.
    within = f"_trainwarden_{function.__qualname__.replace('.', '_')}"
    (group or gates.exchanged).put(function.__globals__, within, torch_function, around)
    made: dict[str, Any] = {}
    # The one frame of ours that lies in the stack while such a function runs.
    exec(compile(f"def {name}(*args, **kwargs):\n    return {within}(*args, **kwargs)\n", PASSED_OVER, "exec"), made)
    codes = (torch_function.__code__, made[name].__code__)
    function.__code__ = codes[True]  # which has no use for the default arguments that stay
    function.__wrapped__ = torch_function  # where inspect and torch.jit look for its signature and its text

    def switch(on: bool) -> None:
        function.__code__ = codes[on]

    return switch
