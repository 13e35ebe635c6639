"""Containers that a program hands to its blocks, and who trains them: nothing of its own classes is called for us."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from typing import Any

import mxnet as mx

from trainwarden.mxnet.arrays import arrays_in
from trainwarden.mxnet.models import Models


def same(found: Iterator[Any], *expected: Any) -> bool:
    values = list(found)
    return len(values) == len(expected) and all(one is other for one, other in zip(values, expected))


def test_arrays_of_nested_lists_come_in_their_order() -> None:
    first, second, third = mx.nd.zeros(1), mx.nd.zeros(2), mx.nd.zeros(3)
    assert same(arrays_in([first, (second, [third, None]), "text"]), first, second, third)
    assert same(arrays_in(first), first) and same(arrays_in(None))


def test_shared_and_long_lists_end_soon() -> None:
    shared: Any = mx.nd.zeros(1)
    for _ in range(40):
        shared = [shared, shared]
    assert len(list(arrays_in(shared))) <= 1
    assert len(list(arrays_in([[mx.nd.zeros(1)] * 10_000] * 1_000))) < 10_000


def test_lists_of_a_programs_own_are_read_as_python_keeps_them() -> None:
    class Own(list[Any]):
        def __iter__(self) -> Iterator[Any]:
            raise AssertionError("asked")

    array = mx.nd.zeros(1)
    assert same(arrays_in(Own([array])), array)


def test_trainers_need_not_be_hashable() -> None:
    class Own:
        _params: list[Any] = []

        def __eq__(self, other: object) -> bool:
            return True

    models, first, second = Models(), Own(), Own()
    for each in (first, second, first):
        models.add(each)
    assert [each is first for each in models.trainers()] == [True, False]
    del each, second
    gc.collect()
    assert len(models.trainers()) == 1
