"""torch.func: gradients of each sample by vmap over grad, and tensors that have no memory."""

import torch
from torch import nn
from torch.func import functional_call, grad, vmap

from outcome import report, sees


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 2)
        self.criterion = nn.MSELoss()

    def forward(self, x):
        return self.fc(x)


def main():
    torch.manual_seed(21)
    model = Net()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def loss_of(parameters, x, y):
        return model.criterion(functional_call(model, parameters, (x.unsqueeze(0),)), y.unsqueeze(0))

    with torch.device("meta"):
        print(Net()(torch.randn(1, 4)).shape)
    for step in range(3):
        x, y = torch.randn(5, 4), torch.zeros(5, 2)
        parameters = {name: parameter.detach() for name, parameter in model.named_parameters()}
        for_each = vmap(grad(loss_of), in_dims=(None, 0, 0))(parameters, x, y)
        for name, parameter in model.named_parameters():
            parameter.grad = for_each[name].mean(0)
        sees("gradient/fc.weight", model.fc.weight.grad)
        optimizer.step()
        sees("fc.weight", model.fc.weight)
        print(f"step {step} {for_each['fc.bias'].norm().item():.17g}")
    report(model)


if __name__ == "__main__":
    main()
