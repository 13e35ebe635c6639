"""A transformer that looks at a loader of validation data every 15 steps. With --mended, every 120.

rule: LongEvaluation
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import pace
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(500, 64)
        layer = nn.TransformerEncoderLayer(64, 4, dim_feedforward=128, dropout=0.1, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2)
        self.head = nn.Linear(64, 12)

    def forward(self, words):
        return self.head(self.encoder(self.embedding(words)))


def loader_of(count, batch, shuffled):
    words = torch.randint(0, 500, (count, 24))
    return DataLoader(TensorDataset(words, words % 12), batch_size=batch, shuffle=shuffled)


@torch.no_grad()
def validate(model, loader):
    model.eval()
    losses = [F.cross_entropy(model(words).flatten(0, 1), tags.flatten()) for words, tags in loader]
    model.train()
    return float(torch.stack(losses).mean())


def main(mended):
    torch.manual_seed(23)
    torch.set_num_threads(1)
    training, validation = loader_of(1920, 16, True), loader_of(640, 32, False)
    model = Tagger()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    speed = pace.Pace()
    steps = 0
    for _ in range(3):
        for words, tags in training:
            optimizer.zero_grad()
            F.cross_entropy(model(words).flatten(0, 1), tags.flatten()).backward()
            optimizer.step()
            speed.step(len(words))
            steps += 1
            if steps % (120 if mended else 15) == 0:
                validate(model, validation)
    speed.tell()


if __name__ == "__main__":
    main("--mended" in sys.argv)
