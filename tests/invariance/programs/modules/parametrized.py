"""torch.nn.utils.parametrize changes the class of a module; pruning adds hooks to it."""
import torch
from torch.nn.utils import parametrize, prune
import seen


class Positive(torch.nn.Module):
    calls = 0

    def forward(self, weight):
        Positive.calls += 1
        return weight.abs()


net = seen.small_net()
parametrize.register_parametrization(net[0], "weight", Positive())
prune.random_unstructured(net[2], "weight", amount=0.3)
seen.train(net, 20)
print(Positive.calls, type(net[0]).__name__, sorted(net.state_dict()), seen.digest(net))
