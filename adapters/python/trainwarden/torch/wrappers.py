"""Wrappers: modules that libraries put around a model, or around a part of it. They leave no trace in names."""

from __future__ import annotations

import weakref
from typing import Mapping, NamedTuple, Optional

import torch

from .contents import attributes_of
from .module_tree import is_module, named_modules, parameters_of_module
from .naming import model_name

_Kinds = Mapping[tuple[str, str], str]

# The attribute that holds what a wrapper was made for, by package and name of its class; classes made of it count too.
_WRAPPED: _Kinds = {
    ("torch", "DataParallel"): "module",
    ("torch", "DistributedDataParallel"): "module",
    ("torch", "FullyShardedDataParallel"): "_fsdp_wrapped_module",
    ("torch", "ActivationWrapper"): "_checkpoint_wrapped_module",
    ("torch", "OptimizedModule"): "_orig_mod",
    ("deepspeed", "DeepSpeedEngine"): "module",
    ("lightning", "_FabricModule"): "_forward_module",
    ("lightning_fabric", "_FabricModule"): "_forward_module",
    ("peft", "PeftModel"): "base_model",
    ("peft", "PeftMixedModel"): "base_model",
    ("peft", "BaseTuner"): "model",
}
# The same for what computes more than the module in it: that has a name of its own, but its parameters are the layer's.
_EXTENDED: _Kinds = {("peft", "BaseTunerLayer"): "base_layer"}
# Those of _WRAPPED that call the forward() of what is in them, so that nobody sees it called.
_CALLING_FORWARD = (("peft", "PeftModel"), ("peft", "PeftMixedModel"), ("peft", "BaseTuner"))


def wrapped_by(module: torch.nn.Module) -> Optional[torch.nn.Module]:
    """What a wrapper (DistributedDataParallel, torch.compile, PeftModel, ...) was made for; None for other modules, and
    where the wrapper has parameters of its own."""
    inner = _inside(module)
    if inner is None:
        return None
    known = {id(parameter) for parameter in parameters_of_module(inner)}
    return inner if all(id(parameter) in known for parameter in parameters_of_module(module)) else None


def unwrapped(module: torch.nn.Module) -> torch.nn.Module:
    """The model itself, without what libraries have wrapped around it."""
    inner = wrapped_by(module)
    while inner is not None:
        module = inner
        inner = wrapped_by(module)
    return module


def stands_in(module: torch.nn.Module) -> bool:
    """Is it a wrapper whose call may be all that is seen of the call of what is in it?

    torch.compile begins behind the call of a module, but in front of that of a module of torch's own.
    """
    inner = _inside(module)
    if inner is None:
        return False
    if type(module).__name__ == "OptimizedModule":
        return type(inner).__module__.startswith("torch.nn.modules.")
    return _facts_of(type(module)).calls_forward


def is_wrapper(module: torch.nn.Module) -> bool:
    return _inside(module) is not None


class Paths:
    """The dotted names in a model as it has them itself: "layer1._orig_mod.weight" is "layer1.weight"."""

    def __init__(self, root: torch.nn.Module) -> None:
        self._wrapped: set[str] = set()  # paths of what lies in a wrapper
        self._extended: set[str] = set()
        for path, module in named_modules(root):
            facts = _facts_of(type(module))
            for attribute, paths in ((facts.wrapped, self._wrapped), (facts.extended, self._extended)):
                if attribute is not None:
                    paths.add(f"{path}.{attribute}" if path else attribute)

    def of_module(self, dotted: str) -> str:
        """The root itself has none."""
        return model_name(_without(dotted, self._wrapped) + ".")[:-1]

    def of_tensor(self, dotted: str) -> str:
        """Of a parameter or a buffer."""
        return model_name(_without(dotted, self._wrapped | self._extended))


def _without(dotted: str, paths: set[str]) -> str:
    if not paths:
        return dotted
    parts = dotted.split(".")
    return ".".join(part for end, part in enumerate(parts, 1) if ".".join(parts[:end]) not in paths)


class _Facts(NamedTuple):
    """Of a class of modules."""

    wrapped: Optional[str]
    extended: Optional[str]
    calls_forward: bool


_facts: weakref.WeakKeyDictionary[type, _Facts] = weakref.WeakKeyDictionary()


def _facts_of(kind: type) -> _Facts:
    known = _facts.get(kind)
    if known is None:
        keys = [(str(each.__module__).partition(".")[0], each.__name__) for each in kind.__mro__]
        wrapped = next((_WRAPPED[key] for key in keys if key in _WRAPPED), None)
        extended = next((_EXTENDED[key] for key in keys if key in _EXTENDED), None)
        known = _facts[kind] = _Facts(wrapped, extended, any(key in _CALLING_FORWARD for key in keys))
    return known


def _inside(module: torch.nn.Module) -> Optional[torch.nn.Module]:
    attribute = _facts_of(type(module)).wrapped
    modules = attributes_of(module).get("_modules") if attribute is not None else None
    inner = modules.get(attribute) if modules else None
    return inner if is_module(inner) else None
