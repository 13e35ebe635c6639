"""An IterableDataset without a length, a collate_fn that gives objects, and a loop that stops in the middle."""
import itertools
import torch
from torch.utils.data import DataLoader, IterableDataset
import seen


class Stream(IterableDataset):
    opened = closed = 0

    def __iter__(self):
        Stream.opened += 1
        try:
            for number in itertools.count():
                yield {"x": torch.full((4,), number / 10), "id": f"s{number}"}
        finally:
            Stream.closed += 1


net = seen.small_net()
optimizer = torch.optim.SGD(net.parameters(), 1e-3)
ids = []
for epoch in range(3):
    for index, batch in enumerate(DataLoader(Stream(), batch_size=4)):
        if index == 10:
            break
        optimizer.zero_grad()
        net(batch["x"]).pow(2).mean().backward()
        optimizer.step()
        ids += batch["id"]
print(Stream.opened, Stream.closed, len(ids), ids[-1], seen.digest(net))
