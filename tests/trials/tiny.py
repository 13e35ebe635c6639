"""Models and data that fit into a second: nothing is downloaded."""

import torch
from torch import nn

WORDS, LENGTH = 64, 16


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.up = nn.Linear(width, 2 * width)
        self.down = nn.Linear(2 * width, width)

    def forward(self, x):
        return x + self.down(torch.relu(self.up(self.norm(x))))


class Net(nn.Module):
    """A stack of blocks with a head, as a transformer has it."""

    def __init__(self, width=16, blocks=2, classes=4):
        super().__init__()
        self.stem = nn.Linear(8, width)
        self.blocks = nn.ModuleList(Block(width) for _ in range(blocks))
        self.head = nn.Linear(width, classes)

    def forward(self, x):
        x = self.stem(x)
        for block in self.blocks:
            x = block(x)
        return self.head(x)


def batch(step, size=8, classes=4):
    """The same numbers for a step whatever was drawn before."""
    generator = torch.Generator().manual_seed(1000 + step)
    return torch.randn(size, 8, generator=generator), torch.randint(0, classes, (size,), generator=generator)


def gpt2(**settings):
    from transformers import GPT2Config, GPT2LMHeadModel

    config = {"vocab_size": WORDS, "n_positions": 64, "n_embd": 32, "n_layer": 2, "n_head": 2, **settings}
    return GPT2LMHeadModel(GPT2Config(bos_token_id=1, eos_token_id=2, pad_token_id=0, **config))


def tokens(step, size=4):
    """Sequences that count up."""
    first = torch.randint(3, WORDS - LENGTH, (size, 1), generator=torch.Generator().manual_seed(step))
    return first + torch.arange(LENGTH)


def tokenizer():
    """Of words that are numbers."""
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    words = {"[pad]": 0, "[bos]": 1, "[eos]": 2, **{str(word): word for word in range(3, WORDS)}}
    made = Tokenizer(models.WordLevel(words, unk_token="[pad]"))
    made.pre_tokenizer = pre_tokenizers.Whitespace()
    return PreTrainedTokenizerFast(tokenizer_object=made, pad_token="[pad]", bos_token="[bos]", eos_token="[eos]")


def counting(first, count):
    """A text that counts up."""
    return " ".join(str(3 + (first + index) % (WORDS - 3)) for index in range(count))
