"""Layers of each kind that rules ask for, as modules and as functions, and losses that are functions."""

import pickle

import torch
import torch.nn.functional as F
from torch import nn

from outcome import report, sees


class SelfAttention(nn.Module):
    def forward(self, x):
        return F.softmax(x @ x.transpose(1, 2), dim=-1) @ x


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(10, 8)
        self.stem = nn.Conv2d(3, 4, 3, padding=1)
        self.conv = nn.Conv2d(4, 4, 3, padding=1)
        self.relu = nn.ReLU(inplace=True)
        self.tanh = nn.Tanh()
        self.sigmoid = nn.Sigmoid()
        self.attend = nn.MultiheadAttention(8, 2, batch_first=True)
        self.own = SelfAttention()
        self.head = nn.Linear(12, 3)

    def sees(self, name, tensor):
        if self.training:
            sees(f"train/{name}", tensor)

    def forward(self, images, words):
        x = F.relu(self.stem(images))
        self.sees("Net_relu_output_0", x)
        x = self.sigmoid(self.relu(self.conv(x))).mean((2, 3))
        y, weights = self.attend(*[self.words(words)] * 3)
        self.sees("attend_attention_0", weights)
        return self.head(torch.cat([x, self.tanh(self.own(y).mean(1))], 1))


def main():
    torch.manual_seed(31)
    model = Net()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    images, words, labels = torch.randn(4, 3, 5, 5), torch.randint(0, 10, (4, 6)), torch.tensor([0, 1, 2, 0])
    for step in range(4):
        model.train()
        optimizer.zero_grad()
        output = model(images, words)
        loss = F.cross_entropy(output, target=labels)
        loss.backward()
        optimizer.step()
        sees("train/nll_loss_output_0", loss)
        sees("train/nll_loss_input_0", output)
        print(f"step {step} loss {loss.item():.17g}")
        model.eval()
        with torch.no_grad():
            output = model(images, words)
            loss = F.cross_entropy(output, labels)
            sees("eval/nll_loss_output_0", loss)
            sees("eval/nll_loss_input_1", labels)
    print(pickle.loads(pickle.dumps(F.relu)) is F.relu, F.mse_loss.__name__, nn.TransformerEncoderLayer(4, 1).activation is F.relu)
    report(model)


if __name__ == "__main__":
    main()
