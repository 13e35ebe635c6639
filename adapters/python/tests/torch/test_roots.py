"""What is found of models: which parts torch.compile runs, and the names of classes behind wrappers."""

from __future__ import annotations

import subprocess
import sys

import torch
from running import needs_torch_2
from torch import nn

from trainwarden import _core
from trainwarden.torch.naming import class_name
from trainwarden.torch.roots import Model
from trainwarden.torch.wrappers import unwrapped, wrapped_by


class Own(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Sequential(nn.Linear(2, 2), nn.ReLU())
        self.head = nn.Linear(2, 1)


def of_wrapper(wrapper: nn.Module) -> Model:
    model = Model(unwrapped(wrapper))
    model.add_entry(wrapper)
    return model


@needs_torch_2
def test_a_model_that_is_compiled_as_a_whole() -> None:
    assert of_wrapper(torch.compile(Own())).compiled_parts() == ["Own"]
    in_place = Own()
    in_place.compile()
    assert Model(in_place, "net.").compiled_parts() == ["net.Own"]
    assert Model(Own()).compiled_parts() == []


@needs_torch_2
def test_of_a_module_of_torch_the_call_of_the_wrapper_is_seen() -> None:
    wrapper = torch.compile(nn.Sequential(nn.Linear(2, 2)))
    called = of_wrapper(wrapper).called_modules()
    assert [name for name, _ in called] == ["Sequential", "0", "Sequential"]
    assert called[-1][1] is wrapper
    own = of_wrapper(torch.compile(Own())).called_modules()
    assert "OptimizedModule" not in [type(module).__name__ for _, module in own]


class Extended(nn.DataParallel):
    """A wrapper with a parameter of its own is no mere wrapper."""

    def __init__(self, module: nn.Module) -> None:
        super().__init__(module)
        self.scale = nn.Parameter(torch.ones(()))


def test_a_wrapper_that_is_trained_itself() -> None:
    own = Own()
    assert wrapped_by(nn.DataParallel(own)) is own
    wrapper = Extended(own)
    assert unwrapped(wrapper) is wrapper
    assert [each.name for each in Model(wrapper).parameters()][:2] == ["scale", "body.0.weight"]


@needs_torch_2
def test_parts_that_are_compiled() -> None:
    model = Own()
    model.body[0].compile()
    model.head = torch.compile(model.head)
    assert Model(model).compiled_parts() == ["body.0", "head"]


def test_a_class_that_fully_shard_has_made() -> None:
    sharded = type("FSDPOwn", (type("FSDPModule", (), {}), Own), {})()
    assert class_name(sharded) == "Own"
    assert class_name(Own()) == "Own"
    assert Model(sharded).path == "Own"


class Liar:
    """Says that it is a module."""

    @property
    def __class__(self) -> type:  # type: ignore[override]
        raise AssertionError("it was asked")


def test_living_objects_are_those_of_a_class_and_of_derived_ones() -> None:
    module, liar = nn.Sequential(nn.Linear(1, 1)), Liar()
    found = _core.living_objects(nn.Module)
    assert {id(module), id(module[0])} <= {id(each) for each in found}
    assert id(liar) not in {id(each) for each in found}
    assert _core.living_objects(type("Nobody", (), {})) == []


def test_a_tensor_of_torchs_own_is_not_held_while_living_objects_are_looked_for() -> None:
    """Another thread runs backward passes, which drop tensors that have an object of Python which nobody else holds. In a
    process of its own: such a tensor is warned of once in each."""
    program = """
import threading, torch
from trainwarden.torch.roots import Living
over = threading.Event()
def train():
    while not over.is_set():
        layer = torch.nn.Linear(4, 4)
        torch.nn.functional.mse_loss(layer(torch.randn(8, 4)), torch.ones(8, 4)).backward()
threads = [threading.Thread(target=train) for _ in range(2)]
[thread.start() for thread in threads]
for _ in range(100):
    Living()
over.set()
[thread.join() for thread in threads]
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=100)
    assert (done.returncode, done.stderr) == (0, "")
