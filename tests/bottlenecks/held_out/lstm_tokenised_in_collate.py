"""An LSTM on text that is cut into words anew whenever a batch is put together. With --mended, once before.

rule: InputBound or Dataloader
"""

import random
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import pace
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader

WORD = re.compile(r"[a-z]+|[^\sa-z]")
LENGTH = 24


def reviews(count):
    words = [bytes(random.choices(range(97, 123), k=random.randint(2, 9))).decode() for _ in range(800)]
    return [(" ".join(random.choices(words, k=150)).title() + " !", random.randint(0, 1)) for _ in range(count)]


def numbers_of(text, vocabulary):
    tokens = [token for token in WORD.findall(text.lower()) if len(token) > 1]
    grams = [token[at : at + 3] for token in tokens for at in range(max(1, len(token) - 2))]
    return [vocabulary.setdefault(gram, len(vocabulary) % 4000) for gram in grams][:LENGTH]


def main(mended):
    random.seed(21)
    torch.manual_seed(21)
    torch.set_num_threads(1)
    vocabulary = {}
    examples = reviews(3200)
    if mended:
        examples = [(numbers_of(text, vocabulary), label) for text, label in examples]

    def collate(batch):
        rows = [text if mended else numbers_of(text, vocabulary) for text, _ in batch]
        return torch.tensor(rows), torch.tensor([label for _, label in batch])

    loader = DataLoader(examples, batch_size=32, shuffle=True, collate_fn=collate)
    embedding, lstm, head = nn.Embedding(4000, 48), nn.LSTM(48, 64, batch_first=True), nn.Linear(64, 2)
    model = nn.ModuleList([embedding, lstm, head])
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    speed = pace.Pace()
    for _ in range(5):
        for texts, labels in loader:
            optimizer.zero_grad()
            _, (state, _) = lstm(embedding(texts))
            F.cross_entropy(head(state[-1]), labels).backward()
            optimizer.step()
            speed.step(len(labels))
    speed.tell()


if __name__ == "__main__":
    main("--mended" in sys.argv)
