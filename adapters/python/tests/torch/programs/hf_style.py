"""In the manner of HuggingFace: keyword inputs, a loss computed inside forward, outputs in a dict-like dataclass."""

from collections import OrderedDict
from dataclasses import dataclass, fields
from typing import Optional

import torch
from torch import nn

from outcome import report, sees


class ModelOutput(OrderedDict):
    """An ordered dict whose fields are attributes, too."""

    def __post_init__(self):
        for field in fields(self):
            value = getattr(self, field.name)
            if value is not None:
                super().__setitem__(field.name, value)


@dataclass
class MaskedLMOutput(ModelOutput):
    loss: Optional[torch.Tensor] = None
    logits: Optional[torch.Tensor] = None


@dataclass
class EncoderOutput:
    hidden: torch.Tensor
    attentions: tuple


class Encoder(nn.Module):
    def __init__(self, words, width):
        super().__init__()
        self.embeddings = nn.Embedding(words, width)
        self.dense = nn.Linear(width, width)

    def forward(self, input_ids, attention_mask=None):
        hidden = torch.tanh(self.dense(self.embeddings(input_ids)))
        weights = attention_mask / attention_mask.sum(-1, keepdim=True)
        return EncoderOutput(hidden * weights.unsqueeze(-1), attentions=(weights,))


class LanguageModel(nn.Module):
    def __init__(self, words=20, width=8):
        super().__init__()
        self.words = words
        self.encoder = Encoder(words, width)
        self.head = nn.Linear(width, words, bias=False)
        self.head.weight = self.encoder.embeddings.weight  # tied

    def forward(self, input_ids=None, attention_mask=None, labels=None):
        logits = self.head(self.encoder(input_ids=input_ids, attention_mask=attention_mask).hidden)
        loss = None
        if labels is not None:
            loss = nn.CrossEntropyLoss()(logits.view(-1, self.words), labels.view(-1))
        return MaskedLMOutput(loss=loss, logits=logits)


def main():
    torch.manual_seed(1)
    model = LanguageModel()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    for step in range(4):
        batch = torch.randint(0, 20, (3, 6))
        outputs = model(input_ids=batch, attention_mask=torch.ones(3, 6), labels=batch)
        outputs.loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 0.1)
        sees("gradient/encoder.dense.weight", model.encoder.dense.weight.grad)
        optimizer.step()
        optimizer.zero_grad()
        sees("CrossEntropyLoss_output_0", outputs["loss"])
        sees("LanguageModel_output_1", outputs.logits)
        sees("encoder.dense.weight", model.encoder.dense.weight)
        sees("optimizer_state/encoder.dense.weight/exp_avg", optimizer.state[model.encoder.dense.weight]["exp_avg"])
        print(f"step {step} loss {outputs.loss.item():.17g}")
    report(model)


if __name__ == "__main__":
    main()
