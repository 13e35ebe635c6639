"""torch.save of a whole module with hooks, buffers and a reference to its optimizer; loaded and trained on."""
import torch
import seen


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(4, 1)
        self.register_buffer("count", torch.zeros(()))

    def forward(self, x):
        self.count += 1
        return self.linear(x)


torch.manual_seed(0)
net = Net()
net.optimizer = torch.optim.SGD(net.parameters(), 0.1)
seen.train(net, 12, net.optimizer)
torch.save(net, "whole.pt")
weights_only = {} if torch.__version__ < "2" else {"weights_only": False}
loaded = torch.load("whole.pt", **weights_only)
seen.train(loaded, 12, loaded.optimizer)
print(sorted(vars(loaded)), seen.digest(net), seen.digest(loaded))
