"""Exchange: gives a function of torch another code, which calls ours.

The function stays the object that it was: references that were taken before, default arguments, pickles and
comparisons with `is` mean the same function as ever. To those who look closely (inspect, torch.jit, torch.fx,
torch.compile) it shows torch's own signature, source and globals.
"""

from __future__ import annotations

import functools
import types
from typing import Any, Callable


def is_plain(function: Any) -> bool:
    """Can the code of this function be exchanged: is it one of Python, and no closure?"""
    return isinstance(function, types.FunctionType) and function.__closure__ is None


def innermost(function: Any) -> Any:
    """The function that decorators of torch stand around; itself where there are none."""
    while not is_plain(function) and hasattr(function, "__wrapped__"):
        function = function.__wrapped__
    return function


def put_around(function: Any, call: Callable[..., Any]) -> Callable[[bool], None]:
    """From now on function(*args, **kwargs) is call(torch_function, *args, **kwargs), where `torch_function` does what
    the function did until now. What this gives switches that off, and on again, at any time and from any thread."""
    torch_function: Any = types.FunctionType(
        function.__code__, function.__globals__, function.__name__, function.__defaults__
    )
    torch_function.__kwdefaults__ = function.__kwdefaults__
    functools.update_wrapper(torch_function, function)
    del torch_function.__wrapped__
    name = function.__name__
    # In torch's globals, under names that nobody else has: the new code can have no closure.
    function.__globals__[f"_trainwarden_{name}"] = call
    function.__globals__[f"_trainwarden_torch_{name}"] = torch_function
    text = (
        f"def {name}(*args, **kwargs):\n    return _trainwarden_{name}(_trainwarden_torch_{name}, *args, **kwargs)\n"
    )
    made: dict[str, Any] = {}
    exec(compile(text, __file__, "exec"), made)
    codes = (torch_function.__code__, made[name].__code__)
    function.__code__ = codes[True]  # which has no use for the default arguments that stay
    function.__wrapped__ = torch_function  # where inspect and torch.jit look for its signature and its text

    def switch(on: bool) -> None:
        function.__code__ = codes[on]

    return switch
