"""A model that changes while it is trained: a layer is replaced, one is added, another model is made and dropped."""

import gc

import torch
from torch import nn

from outcome import report, sees


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(4, 4)])
        self.head = nn.Linear(4, 2)

    def forward(self, x):
        for layer in self.layers:
            x = torch.relu(layer(x))
        return self.head(x)


def main():
    torch.manual_seed(6)
    model = Net()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step in range(6):
        if step == 2:
            model.layers.append(nn.Linear(4, 4))
            optimizer.add_param_group({"params": list(model.layers[1].parameters())})
        if step == 4:
            model.head = nn.Linear(4, 3)
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        optimizer.zero_grad()
        output = model(torch.randn(5, 4))
        loss = nn.functional.cross_entropy(output, torch.randint(0, 2, (5,)))
        loss.backward()
        optimizer.step()
        sees("nll_loss_output_0", loss)
        sees("layers.0.weight", model.layers[0].weight)
        print(f"step {step} loss {loss.item():.17g}")
    report(model)
    model = optimizer = None
    gc.collect()
    print("models alive", sum(1 for thing in gc.get_objects() if type(thing) is Net))


if __name__ == "__main__":
    main()
