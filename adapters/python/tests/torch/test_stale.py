"""Gradients that an optimizer has used already: are they there again?"""

from __future__ import annotations

import torch

from trainwarden.torch.stale import StaleGradients


def step(stale: StaleGradients, optimizer: torch.optim.Optimizer, weight: torch.Tensor, number: int) -> object:
    stale.see_backward()
    (weight.sum() * 2).backward()
    found = stale.see_step(optimizer, number)
    stale.remember(optimizer, number)
    return found


def test_gradients_that_are_never_cleared() -> None:
    weight = torch.ones(3, requires_grad=True)
    optimizer, stale = torch.optim.SGD([weight], lr=0.1), StaleGradients()
    assert [step(stale, optimizer, weight, number) for number in range(3)] == [None, 1, 1]


def test_where_nobody_looked_at_the_step_before_nothing_is_known() -> None:
    weight = torch.ones(3, requires_grad=True)
    optimizer, stale = torch.optim.SGD([weight], lr=0.1), StaleGradients()
    step(stale, optimizer, weight, 0)
    (weight.sum() * 2).backward()  # a step that is not looked at
    assert step(stale, optimizer, weight, 2) is None
    assert step(stale, optimizer, weight, 3) == 1


def test_optimizers_that_step_by_turns_are_told_apart() -> None:
    critic, maker = torch.ones(3, requires_grad=True), torch.ones(3, requires_grad=True)
    optimizers = [torch.optim.SGD([each], lr=0.1) for each in (critic, maker)]
    stale, found = StaleGradients(), []
    for number in range(6):
        weight, optimizer = (critic, maker)[number % 2], optimizers[number % 2]
        if weight is maker:  # whose gradients alone are cleared; its loss goes through the critic
            optimizer.zero_grad()
            stale.see_zeroed(optimizer)
        stale.see_backward()
        (critic.sum() * maker.sum()).backward()
        stale.see_backward_end()
        found.append(stale.see_step(optimizer, number))
        stale.remember(optimizer, number)
    assert found == [None, None, 1, 0, 1, 0]


def test_master_weights_that_get_their_gradients_by_assignment_have_none_that_are_stale() -> None:
    low = torch.ones(3, dtype=torch.bfloat16, requires_grad=True)
    master = torch.ones(3)
    optimizer, stale, found = torch.optim.SGD([master], lr=0.1), StaleGradients(), []
    for number in range(4):
        low.grad = None
        stale.see_backward()
        low.sum().backward()
        stale.see_backward_end()
        assert low.grad is not None
        master.grad = low.grad.float()
        found.append(stale.see_step(optimizer, number))
        stale.remember(optimizer, number)
    assert found == [None, 0, 0, 0]
