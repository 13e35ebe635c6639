"""A model in wrappers like those of PEFT: one calls the forward() of what is in it, and layers lie in larger ones."""

import torch
from torch import nn

from outcome import report, sees


class BaseTunerLayer:
    __module__ = "peft.imitated"


class LoraLinear(nn.Module, BaseTunerLayer):
    def __init__(self, base_layer):
        super().__init__()
        self.base_layer = base_layer
        self.lora_A = nn.ModuleDict({"default": nn.Linear(base_layer.in_features, 2, bias=False)})
        self.lora_B = nn.ModuleDict({"default": nn.Linear(2, base_layer.out_features, bias=False)})

    def forward(self, x):
        return self.base_layer(x) + self.lora_B["default"](self.lora_A["default"](x))


class BaseTuner(nn.Module):
    __module__ = "peft.imitated"

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, x):
        return self.model.forward(x)


class PeftModel(nn.Module):
    __module__ = "peft.imitated"

    def __init__(self, model):
        super().__init__()
        self.base_model = BaseTuner(model)

    def forward(self, x):
        return self.base_model(x)


class Net(nn.Module):
    """With a part that is wrapped by torch."""

    def __init__(self):
        super().__init__()
        self.body = nn.Linear(4, 8)
        self.head = nn.DataParallel(nn.Linear(8, 3))

    def forward(self, x):
        return self.head(torch.tanh(self.body(x)))


def main():
    torch.manual_seed(31)
    net = Net()
    net.body = LoraLinear(net.body)
    net.body.base_layer.weight.requires_grad = False
    model = PeftModel(net)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    criterion = nn.CrossEntropyLoss()
    for step in range(4):
        if step == 2:
            try:
                model(torch.randn(5, 3))
            except RuntimeError:
                print("failed")
        optimizer.zero_grad()
        output = model(torch.randn(5, 4))
        loss = criterion(output, torch.randint(0, 3, (5,)))
        loss.backward()
        sees("gradient/body.lora_A.default.weight", net.body.lora_A["default"].weight.grad)
        sees("gradient/body.bias", net.body.base_layer.bias.grad)
        sees("CrossEntropyLoss_output_0", loss)
        optimizer.step()
        sees("body.bias", net.body.base_layer.bias)
        sees("head.weight", net.head.module.weight)
        print(f"step {step} loss {loss.item():.17g}")
    report(model)


if __name__ == "__main__":
    main()
