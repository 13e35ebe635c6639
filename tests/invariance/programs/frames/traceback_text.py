"""The whole text of the traceback of exceptions from forward(), from a loss and from an optimizer."""
import traceback
import torch
import seen


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(4, 1)
        self.fails = False

    def forward(self, x):
        if self.fails:
            raise ValueError("bad input")
        return self.linear(x)


def texts(action):
    try:
        action()
    except Exception as error:
        lines = traceback.format_exception(error)
        return [line.strip().split("\n")[0].split("/")[-1] for line in lines]


torch.manual_seed(0)
net = Net()
seen.train(net)
net.fails = True
print(texts(lambda: net(torch.ones(2, 4))))
print(texts(lambda: torch.nn.functional.mse_loss(torch.ones(3), torch.ones(4))))
print(texts(lambda: torch.ones(3).backward()))
print(texts(lambda: torch.nn.MSELoss()(torch.ones(3), torch.ones(4))))
print(texts(lambda: torch.optim.SGD(net.parameters(), 0.1).step(lambda: 1 / 0)))
