"""A training that somebody asks to stop after its third step: by a loop of its own, by one that passes for the trainer of
transformers or of Lightning, or on two ranks. Prints how it ended."""

import os
import subprocess
import sys
import tempfile
import time

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn

MAX_STEPS = 2000


class Control:
    should_training_stop = False
    should_save = False


class Arguments:
    save_strategy = "steps"


class Transformers:
    def __init__(self):
        self.control, self.args = Control(), Arguments()

    def has_to_end(self):
        return self.control.should_training_stop

    def end(self):
        print("saves", self.control.should_save)


class Lightning:
    should_stop = False

    def has_to_end(self):
        return self.should_stop

    def end(self):
        print("ends the epoch")


for kind, module in ((Transformers, "transformers.trainer"), (Lightning, "lightning.pytorch.trainer.trainer")):
    kind.__name__, kind.__module__ = "Trainer", module


class Loop:
    def has_to_end(self):
        return False

    def end(self):
        print("came to its end")


class Mine(Transformers):
    """Of a class that a program has made of the library's."""


def fit(self, model, optimizer, asks):
    steps = 0
    while steps < MAX_STEPS and not self.has_to_end():
        optimizer.zero_grad()
        model(torch.randn(4, 3)).pow(2).mean().backward()
        optimizer.step()
        steps += 1
        if steps == 3 and asks:
            ask()
        time.sleep(0.005)
    self.end()
    return steps


def ask():
    """In a process of its own, as a person would: it waits for the end of the run."""
    code = "import sys, trainwarden; trainwarden.stop(sys.argv[1], reason='enough', timeout_s=60)"
    environment = {name: value for name, value in os.environ.items() if name != "TRAINWARDEN_ATTACH"}
    subprocess.Popen([sys.executable, "-c", code, os.environ["TRAINWARDEN_RUN_DIR"]], env=environment)


def train(how, asks=True):
    loop = {"transformers": Mine, "lightning": Lightning}.get(how, Loop)()
    torch.manual_seed(3)
    model = nn.Linear(3, 1)
    if how == "ranks":
        model = nn.parallel.DistributedDataParallel(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    try:
        fit(loop, model, optimizer, asks)
    except SystemExit as end:
        sys.stdout.write(f"{type(end).__name__} {end}\n")  # in one piece, also where nothing is buffered: ranks share it
        sys.stdout.flush()


def train_rank(rank, ranks, rendezvous):
    dist.init_process_group("gloo", init_method=rendezvous, rank=rank, world_size=ranks)
    train("ranks", asks=rank == 1)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    if sys.argv[1] == "ranks":
        with tempfile.TemporaryDirectory() as folder:
            mp.spawn(train_rank, args=(2, f"file://{folder}/rendezvous"), nprocs=2)
    else:
        train(sys.argv[1])
