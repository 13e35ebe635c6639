"""Classes, objects and functions of the program's own after their use: pickle, copy, cloudpickle (submitit, Ray)."""
import copy
import io
import pickle
import torch
import seen

try:
    import cloudpickle
except ImportError:
    cloudpickle = pickle


class Optimizer(torch.optim.SGD):
    def step(self, closure=None):
        return super().step(closure)


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(4, 1)

    def forward(self, x):
        return self.linear(x)


class Loss(torch.nn.MSELoss):
    pass


def train(steps=10):
    for _ in range(steps):
        optimizer.zero_grad()
        loss(net(torch.ones(8, 4)), torch.ones(8, 1)).backward()
        optimizer.step()


torch.manual_seed(0)
net, loss = Net(), Loss()
optimizer = Optimizer(net.parameters(), 0.01)
train()
for what in (Optimizer, Net, Loss, optimizer, net, loss, train, net.forward, optimizer.step, optimizer.zero_grad):
    for way in (pickle.dumps, cloudpickle.dumps, copy.copy, copy.deepcopy):
        try:
            print(getattr(what, "__name__", type(what).__name__), way.__module__, type(way(what)).__name__)
        except Exception as error:
            print(getattr(what, "__name__", type(what).__name__), way.__module__, type(error).__name__, error)
print(seen.digest(net))
