"""Threads that train at the same time: one of them is captured, and what the others train is not looked at."""

from __future__ import annotations

import gc
import threading
from pathlib import Path
from typing import Callable

import torch
from torch import nn

import trainwarden
import trainwarden.torch as twt
from trainwarden.torch.holders import Holders
from trainwarden.torch.models import Models


def in_thread(work: Callable[[], None]) -> None:
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()


def sgd(module: nn.Module) -> torch.optim.Optimizer:
    return torch.optim.SGD(module.parameters(), lr=0.1)


def test_an_optimizer_is_held_by_its_maker_and_then_by_the_thread_that_steps() -> None:
    holders, mine = Holders(), sgd(nn.Linear(1, 1))
    made, done = threading.Event(), threading.Event()
    theirs: list[torch.optim.Optimizer] = []

    def work() -> None:
        theirs.append(sgd(nn.Linear(1, 1)))
        holders.made(theirs[0])
        assert holders.used(mine)
        made.set()
        done.wait(60)

    holders.made(mine)
    assert holders.is_here(mine) and holders.takeable([mine]) == [mine]
    other = threading.Thread(target=work)
    other.start()
    assert made.wait(60)
    assert not holders.is_here(mine) and not holders.is_here(theirs[0])
    assert holders.takeable([mine, *theirs]) == []
    done.set()
    other.join()
    assert holders.is_here(mine) and holders.is_here(theirs[0]), "the thread that held them has ended"


class Here(nn.Linear):
    pass


class There(nn.Linear):
    pass


def test_what_another_thread_makes_and_trains_is_not_captured(tmp_path: Path) -> None:
    gc.collect()  # models of the tests before are none of this one
    turns = threading.Barrier(2, timeout=30)

    def train(model: nn.Module) -> None:
        optimizer = sgd(model)
        for _ in range(5):
            turns.wait()
            model(torch.ones(2, 3)).square().mean().backward()
            turns.wait()
            optimizer.step()
            optimizer.zero_grad()
        turns.wait()

    twt.attach(str(tmp_path / "run"))
    other = threading.Thread(target=lambda: train(There(3, 1)))
    other.start()
    train(Here(3, 1))
    other.join()
    twt.detach()
    names = set(trainwarden.Trial(str(tmp_path / "run")).tensor_names())
    assert "weight" in names, f"one model has no prefix: {names}"


def test_what_goes_to_another_thread_is_known_no_more() -> None:
    here, there = Here(3, 1), There(3, 1)
    models, mine, theirs = Models(), sgd(here), sgd(there)
    for each in (mine, theirs):
        models.made(each)
    assert {mine, theirs} <= set(models.look()) and models.knows(mine)
    stepped, done = threading.Event(), threading.Event()

    def work() -> None:
        models.used(theirs)
        stepped.set()
        done.wait(60)

    other = threading.Thread(target=work)
    other.start()
    assert stepped.wait(60)
    assert mine in models.optimizers() and theirs not in models.optimizers()
    assert not models.knows(mine), "what is known is not right any more"
    models.look()
    assert models.knows(mine) and models.model_of(here) is not None and models.model_of(there) is None
    done.set()
    other.join()
    assert theirs in models.look() and models.model_of(there) is not None, "that thread has ended"


def test_a_training_in_a_thread_with_what_the_main_thread_has_made(tmp_path: Path) -> None:
    model = Here(3, 1)
    optimizer = sgd(model)

    def work() -> None:
        for _ in range(3):
            model(torch.ones(2, 3)).square().mean().backward()
            optimizer.step()
            optimizer.zero_grad()

    twt.attach(str(tmp_path / "run"))
    in_thread(work)
    twt.detach()
    trial = trainwarden.Trial(str(tmp_path / "run"))
    assert trial.tensor("weight").steps() == [0, 1, 2]
