"""A small residual network: one model, one optimizer, a loss module."""

import torch
from torch import nn

from outcome import report, sees


class Block(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.conv1 = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(channels)
        self.relu = nn.ReLU(inplace=True)
        self.conv2 = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(channels)

    def forward(self, x):
        out = self.relu(self.bn1(self.conv1(x)))
        return self.relu(self.bn2(self.conv2(out)) + x)


class ResNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(1, 8, 3, padding=1)
        self.layer1 = nn.Sequential(Block(8), Block(8))
        self.fc = nn.Linear(8, 10)

    def forward(self, x):
        return self.fc(self.layer1(self.stem(x)).mean((2, 3)))


def main():
    torch.manual_seed(0)
    model = ResNet()
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    for step in range(5):
        images, labels = torch.randn(4, 1, 8, 8), torch.randint(0, 10, (4,))
        optimizer.zero_grad()
        output = model(images)
        loss = criterion(output, labels)
        loss.backward()
        sees("gradient/stem.weight", model.stem.weight.grad)
        optimizer.step()
        sees("stem.weight", model.stem.weight)
        sees("CrossEntropyLoss_output_0", loss)
        sees("ResNet_output_0", output)
        print(f"step {step} loss {loss.item():.17g}")
    report(model)


if __name__ == "__main__":
    main()
