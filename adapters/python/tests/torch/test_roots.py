"""What is found of models: which parts torch.compile runs, and the names of classes behind wrappers."""

from __future__ import annotations

import torch
from running import needs_torch_2
from torch import nn

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
