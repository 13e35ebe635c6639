"""Transformers: outputs are a dataclass and an OrderedDict at once, with a __getitem__ that takes numbers and names."""
import collections
import dataclasses
import torch
import seen


@dataclasses.dataclass
class Output(collections.OrderedDict):
    loss: torch.Tensor = None
    logits: torch.Tensor = None
    reads = 0

    def __post_init__(self):
        for field in dataclasses.fields(self):
            if getattr(self, field.name) is not None:
                super().__setitem__(field.name, getattr(self, field.name))

    def __getitem__(self, key):
        Output.reads += 1
        return super().__getitem__(key) if isinstance(key, str) else tuple(self.values())[key]


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(4, 3)

    def forward(self, x, labels):
        logits = self.linear(x)
        return Output(loss=torch.nn.functional.cross_entropy(logits, labels), logits=logits)


torch.manual_seed(0)
net = Net()
optimizer = torch.optim.AdamW(net.parameters(), 0.01)
for step in range(25):
    optimizer.zero_grad()
    output = net(torch.randn(8, 4), labels=torch.randint(3, (8,)))
    output.loss.backward()
    optimizer.step()
print(Output.reads, output[0] is output.loss, len(output), seen.digest(net))
