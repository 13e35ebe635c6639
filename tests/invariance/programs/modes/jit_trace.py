"""torch.jit traces and scripts a trained model, and the result is trained on."""
import torch
import seen


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(4, 1)

    def forward(self, x: torch.Tensor, y: torch.Tensor):
        return torch.nn.functional.mse_loss(torch.nn.functional.relu(self.linear(x)), y)


torch.manual_seed(0)
net = Net()
optimizer = torch.optim.SGD(net.parameters(), 0.1)


def train(model):
    for step in range(10):
        optimizer.zero_grad()
        model(torch.randn(8, 4), torch.ones(8, 1)).backward()
        optimizer.step()


train(net)
traced = torch.jit.trace(net, (torch.ones(8, 4), torch.ones(8, 1)))
train(traced)
scripted = torch.jit.script(net)
train(scripted)
print(scripted.code, traced.code, seen.digest(net))
