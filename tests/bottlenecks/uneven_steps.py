"""Every 20th step sends its metrics to a service and waits for the answer. With --mended a thread sends them.

rule: StepOutlier
"""

import queue
import sys
import threading
import time

import pace
import torch
import torch.nn.functional as F
from torch import nn


def send(metrics):
    time.sleep(0.25)  # the way there and back


class Sender:
    """Sends what it is given, one after the other, beside the training."""

    def __init__(self):
        self.waiting = queue.Queue()
        threading.Thread(target=self._send_all, daemon=True).start()

    def _send_all(self):
        while True:
            send(self.waiting.get())


def main(mended):
    torch.manual_seed(14)
    torch.set_num_threads(1)
    report = Sender().waiting.put if mended else send
    inputs = torch.randn(4096, 256)
    labels = torch.randint(0, 10, (4096,))
    model = nn.Sequential(nn.Linear(256, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 10))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    speed = pace.Pace()
    for step in range(1200):
        chosen = torch.randint(0, len(inputs), (128,))
        optimizer.zero_grad()
        loss = F.cross_entropy(model(inputs[chosen]), labels[chosen])
        loss.backward()
        optimizer.step()
        if step % 20 == 19:
            report({"step": step, "loss": loss.item()})
        speed.step(len(chosen))
    speed.tell()


if __name__ == "__main__":
    main("--mended" in sys.argv)
