"""Names: of losses from what made them, of models from the variables of the program."""

from __future__ import annotations

import re
from typing import Any, Optional

import torch

from .contents import attributes_of
from .frames import frames, is_program, variables_of
from .module_tree import is_module

_UNNAMED_LOSS = "loss"
# Nobody looks for parameters in larger dicts.
_MAX_KEYS = 100_000
# Parts of a name that wrappers put between those of the model itself.
_WRAPPER_PARTS = re.compile(r"(?:^|(?<=\.))(?:_orig_mod|_fsdp_wrapped_module|_checkpoint_wrapped_module)\.")


def model_name(dotted: str) -> str:
    """The name as the model itself has it: "layer1._orig_mod.weight" is "layer1.weight"."""
    return _WRAPPER_PARTS.sub("", dotted)


def class_name(module: torch.nn.Module) -> str:
    """The name of its class; of a module that fully_shard has given a class of its own, that of the class before."""
    kind = type(module)
    if len(kind.__bases__) == 2 and kind.__bases__[0].__name__ == "FSDPModule":
        kind = kind.__bases__[1]
    return kind.__name__


def loss_name(tensor: torch.Tensor) -> str:
    """ "nll_loss", "mse_loss", ... for what a loss function of torch made; "loss" for all else."""
    made_by = type(tensor.grad_fn).__name__ if tensor.grad_fn is not None else ""
    function = re.sub(r"(?:Nd|\d*D)?Backward\d*$", "", made_by)
    name = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", function).lower()
    return name if name.endswith("_loss") else _UNNAMED_LOSS


def loss_function_name(function: str, tensor: torch.Tensor) -> str:
    """The same for what the function of this name gave, also where there are no gradients to go by."""
    if tensor.grad_fn is not None:
        return loss_name(tensor)
    if function == "cross_entropy":
        return "nll_loss"
    return function if function in ("nll_loss", "mse_loss", "smooth_l1_loss", "huber_loss") else _UNNAMED_LOSS


def variable_name(objects: list[Any]) -> Optional[str]:
    """The name under which the calling program knows one of these objects, from the innermost frame outwards.

    Variables of a function or module and attributes of its `self` count.
    """
    wanted = {id(thing) for thing in objects}
    for frame in filter(is_program, frames()):
        variables = variables_of(frame)
        places = (variables, _attributes_of(variables.get("self")), frame.f_globals)
        name = next(filter(None, (_name_in(place, wanted) for place in places)), None)
        if name is not None:
            return name
    return None


def keys_of(tensors: list[torch.Tensor]) -> dict[int, str]:
    """By id: the keys of these in dicts that are variables of the calling program, from the innermost frame outwards.

    That is how programs keep parameters that are in no module, as those of torch.func do.
    """
    wanted, found = {id(tensor) for tensor in tensors}, dict[int, str]()
    for frame in filter(is_program, frames()):
        for value in variables_of(frame).values():
            if type(value) is dict and len(value) < _MAX_KEYS:
                for key, thing in value.items():
                    if id(thing) in wanted and isinstance(key, str):
                        found.setdefault(id(thing), key)
    return found


def _name_in(variables: dict[str, Any], wanted: set[int]) -> Optional[str]:
    for name, value in list(variables.items()):
        if id(value) in wanted and not name.startswith("_") and name != "self":
            return name
    return None


def _attributes_of(owner: Any) -> dict[str, Any]:
    return {} if is_module(owner) else attributes_of(owner)
