"""torch.fx traces a trained model, whose graph and code are printed."""
import torch
import torch.fx
import seen


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.one, self.two = torch.nn.Linear(4, 8), torch.nn.Linear(8, 1)

    def forward(self, x):
        return self.two(torch.nn.functional.relu(self.one(x)))


torch.manual_seed(0)
net = Net()
seen.train(net, 12)
traced = torch.fx.symbolic_trace(net)
print(traced.code)
seen.train(traced, 12)
print([(node.op, str(node.target)) for node in traced.graph.nodes], seen.digest(net))
