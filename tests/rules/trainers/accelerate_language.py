"""A small transformer that goes on with a text, in a loop with accelerate that adds up the gradients of two batches.

The text comes as a stream, from two workers of the loader. Faults: both workers read all of it; predictions are kept
to compute the perplexity at the end.

fault repeated-batches: DuplicateBatch
fault memory-leak: MemoryLeak
"""

import argparse

import torch
from accelerate import Accelerator
from accelerate.utils import set_seed
from torch import nn
from torch.utils.data import DataLoader, IterableDataset, get_worker_info

WORDS = 500
LENGTH = 48
BATCH = 16


class Stream(IterableDataset):
    """Windows of an endless text, in which each word has few that can follow it."""

    def __init__(self, windows, read_by_each):
        generator = torch.Generator().manual_seed(1)
        following = torch.randint(0, WORDS, (WORDS, 4), generator=generator)
        choices = torch.randint(0, 4, (windows * LENGTH + 1,), generator=generator).tolist()
        words = [0]
        for choice in choices:
            words.append(int(following[words[-1], choice]))
        self.text = torch.tensor(words)
        self.windows = windows
        self.read_by_each = read_by_each

    def __iter__(self):
        worker = get_worker_info()
        first, stride = (0, 1) if worker is None or self.read_by_each else (worker.id, worker.num_workers)
        for window in range(first, self.windows, stride):
            yield self.text[window * LENGTH : (window + 1) * LENGTH + 1]


class Language(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(WORDS, 64)
        self.places = nn.Parameter(0.02 * torch.randn(LENGTH, 64))
        layer = nn.TransformerEncoderLayer(64, 4, 128, dropout=0.1, batch_first=True, norm_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.head = nn.Linear(64, WORDS)
        self.register_buffer("mask", nn.Transformer.generate_square_subsequent_mask(LENGTH))

    def forward(self, tokens):
        return self.head(self.encoder(self.words(tokens) + self.places, mask=self.mask, is_causal=True))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--fault", choices=["repeated-batches", "memory-leak"])
    fault = parser.parse_args().fault
    set_seed(0)
    accelerator = Accelerator(cpu=True, gradient_accumulation_steps=2)
    model = Language()
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
    schedule = torch.optim.lr_scheduler.LinearLR(optimizer, 0.1, 1.0, total_iters=50)
    data = DataLoader(Stream(800 * BATCH, read_by_each=fault == "repeated-batches"), BATCH, num_workers=2)
    model, optimizer, data, schedule = accelerator.prepare(model, optimizer, data, schedule)
    model.train()
    kept, total = [], 0.0
    for step, tokens in enumerate(data):
        with accelerator.accumulate(model):
            logits = model(tokens[:, :-1])
            loss = nn.functional.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten())
            accelerator.backward(loss)
            if accelerator.sync_gradients:
                accelerator.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            schedule.step()
            optimizer.zero_grad()
        total += loss.item()
        if fault == "memory-leak":
            kept.append((logits, tokens))
        if step % 100 == 99:
            accelerator.print(f"batch {step}: loss {total / 100:.4f}")
            total = 0.0
    accelerator.save_model(model, "out/accelerate_language")


if __name__ == "__main__":
    main()
