"""What reads a program's objects for us runs none of its code and leaves them as they are."""

from __future__ import annotations

import collections
import gc
import sys
import weakref
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest
import torch
from torch import nn

from trainwarden import faults
from trainwarden._core import frame_variables
from trainwarden.torch import hiding
from trainwarden.torch.contents import tensors_in
from trainwarden.torch.examination.adversaries import Adversaries
from trainwarden.torch.examination.held import Held
from trainwarden.torch.identity import ByIdentity, IdentitySet
from trainwarden.torch.module_tree import named_modules, named_parameters


def numbers(tensors: list[torch.Tensor]) -> list[float]:
    return [float(each) for each in tensors]


def one(value: float) -> torch.Tensor:
    return torch.tensor(value)


class Raises:
    """Whose every method and property is the program's, and must not be called."""

    def __getattr__(self, name: str) -> Any:
        raise AssertionError(name)

    @property
    def __class__(self) -> Any:
        raise AssertionError("__class__")


class Lazy(Mapping[str, torch.Tensor]):
    def __len__(self) -> int:
        raise AssertionError("__len__")

    def __iter__(self) -> Iterator[str]:
        raise AssertionError("__iter__")

    def __getitem__(self, key: str) -> torch.Tensor:
        raise AssertionError("__getitem__")


class OwnDict(dict[str, torch.Tensor]):
    def values(self) -> Any:
        raise AssertionError("values")

    def __iter__(self) -> Any:
        raise AssertionError("__iter__")

    def __getitem__(self, key: str) -> Any:
        raise AssertionError("__getitem__")


class OwnList(list[torch.Tensor]):
    def __iter__(self) -> Any:
        raise AssertionError("__iter__")

    def __getitem__(self, index: Any) -> Any:
        raise AssertionError("__getitem__")


@dataclass
class Node:
    value: torch.Tensor
    neighbours: list["Node"] = field(default_factory=list)

    def __getattr__(self, name: str) -> Any:
        raise AssertionError(name)


Pair = collections.namedtuple("Pair", "first second")


def test_plain_containers_and_classes_made_of_them_are_walked() -> None:
    user = collections.UserDict({"a": one(7)})
    value = (one(1), [one(2), OwnList([one(3)])], {"a": one(4)}, OwnDict(b=one(5)), Pair(one(6), user), Node(one(8)))
    assert numbers(tensors_in(value)) == [1, 2, 3, 4, 5, 6, 7, 8]


def test_nothing_of_the_program_is_asked() -> None:
    assert tensors_in(([Raises(), one(1)], {"lazy": Lazy()}, iter([one(2)]))) == [one(1)]


def test_what_is_shared_or_long_is_walked_once_and_to_a_limit() -> None:
    nodes = [Node(one(index)) for index in range(30)]
    for node in nodes:
        node.neighbours = nodes
    assert len(tensors_in(nodes)) == 30
    assert len(tensors_in([one(1)] * 5000)) < 600
    endless: list[Any] = []
    endless.append(endless)
    assert tensors_in(endless) == []


class Filtering(nn.Module):
    """Whose methods are the program's own."""

    def __init__(self) -> None:
        super().__init__()
        self.inner = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2))
        self.again = self.inner[0]
        self.alone = nn.Parameter(torch.zeros(1))

    def _refuse(self, *_: Any, **__: Any) -> Any:
        raise AssertionError("asked")

    parameters = named_parameters = named_modules = modules = children = named_children = buffers = _refuse


def test_modules_and_parameters_are_those_of_torch() -> None:
    class Plain(nn.Module):
        __init__ = Filtering.__init__

    Plain.__init__ = lambda self: (nn.Module.__init__(self), [setattr(self, *each) for each in parts])[0]  # type: ignore[method-assign]
    ours = Filtering()
    parts = [("inner", ours.inner), ("again", ours.again), ("alone", ours.alone)]
    plain = Plain()
    assert [name for name, _ in named_modules(ours)] == [name for name, _ in plain.named_modules()]
    assert [name for name, _ in named_parameters(ours)] == [name for name, _ in plain.named_parameters()]
    script = torch.jit.script(nn.Sequential(nn.Linear(2, 2)))
    assert [name for name, _ in named_parameters(script)] == ["0.weight", "0.bias"]


class Comparing:
    def __eq__(self, other: object) -> bool:
        raise AssertionError("__eq__")


def test_objects_are_known_by_identity() -> None:
    known, members = ByIdentity[int](), IdentitySet()
    one_of_them, other = Comparing(), Comparing()
    known[one_of_them] = 1
    members.add(one_of_them)
    assert (one_of_them in known, other in known, known.get(one_of_them), known.get(other, 5)) == (True, False, 1, 5)
    assert one_of_them in members and other not in members and bool(members)
    known[3] = 4  # cannot be referenced weakly
    assert (3 in known, len(known)) == (False, 1)
    del one_of_them
    gc.collect()
    assert (len(known), list(known), bool(members)) == (0, [], False)


def test_locals_stay_as_they_are() -> None:
    def function(argument: int) -> tuple[dict[str, Any], dict[str, Any]]:
        mine = locals()
        later = 2
        return dict(mine), frame_variables(sys._getframe()) | {"later": later}

    mine, seen = function(1)
    assert mine == {"argument": 1}
    assert (seen["argument"], seen["later"]) == (1, 2)
    assert frame_variables(sys._getframe())["mine"] is mine
    with pytest.raises(TypeError, match="expected a frame"):
        frame_variables(1)  # type: ignore[arg-type]


class Counting(torch.utils._python_dispatch.TorchDispatchMode):
    def __init__(self) -> None:
        super().__init__()
        self.calls = 0

    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.calls += 1
        return function(*args, **(kwargs or {}))


def test_modes_gradients_and_profilers_of_the_program_see_nothing() -> None:
    weight = torch.ones(2, requires_grad=True)
    with Counting() as mode, torch.autograd.profiler.profile() as profile:
        hidden = hiding.hide()
        assert not (weight * 2).requires_grad
        hiding.show(hidden)
        assert mode.calls == 0
        assert (weight * 2).requires_grad
    assert mode.calls > 0
    assert sum(event.name == "aten::mul" for event in profile.function_events) == 1


def test_what_a_look_holds_has_no_graph_and_a_limit() -> None:
    held = Held()
    small, large = torch.ones(4, requires_grad=True) * 2, torch.ones(9 << 20)
    kept, weak = held.hold(small), held.hold(large)
    graph = weakref.ref(small)
    del small
    assert graph() is None and not kept().requires_grad and weak() is not None  # type: ignore[union-attr]
    del large
    assert weak() is None


def test_a_dropped_model_is_freed_though_a_look_watched_its_answers() -> None:
    adversaries = Adversaries()
    model = nn.Linear(4, 1)
    adversaries.forward_begins(model, (torch.ones(2, 4),))
    answer = model(torch.ones(2, 4))
    adversaries.forward_ends(answer)
    assert answer._backward_hooks is None
    gone = weakref.ref(model.weight)
    del model, answer
    adversaries.let_go()
    gc.collect()
    assert gone() is None


def test_what_a_signal_handler_raises_is_the_programs() -> None:
    def handler(number: int, frame: Any) -> None:
        raise RuntimeError("of the program")

    def interrupted() -> None:
        handler(14, sys._getframe())

    with pytest.raises(RuntimeError, match="of the program"):
        faults.guarded("look")(interrupted)()
    before = faults.failures()
    assert faults.guarded("look at a fault of ours")(lambda: {}["missing"])() is None
    assert faults.failures() == before + 1
