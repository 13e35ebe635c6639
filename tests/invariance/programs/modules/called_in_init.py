"""A module that calls itself and its parts in its own __init__, before it is whole."""
import torch
import seen


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.body = torch.nn.Linear(4, 6)
        with torch.no_grad():
            width = self(torch.zeros(1, 4)).shape[1]
        self.head = torch.nn.Linear(width, 1)

    def forward(self, x):
        x = self.body(x)
        return self.head(x) if "head" in self._modules else x


torch.manual_seed(0)
net = Net()
seen.train(net, 20)
print(seen.digest(net))
