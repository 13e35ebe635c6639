"""Hugging Face's BERT for spans with eager attention, in plain operations of PyTorch: for one that is too old for
transformers. And files of safetensors, for which such a Python has no package either."""

from __future__ import annotations

import json
import math
import struct
from pathlib import Path

import torch
from torch.nn import functional as F

DTYPES = {"F32": torch.float32, "I64": torch.int64}


def read_safetensors(path: Path) -> dict[str, torch.Tensor]:
    """All tensors of a file."""
    raw = bytearray(path.read_bytes())
    (length,) = struct.unpack_from("<Q", raw)
    header = json.loads(raw[8:8 + length])
    header.pop("__metadata__", None)
    result = {}
    for name, entry in header.items():
        begin, end = (8 + length + offset for offset in entry["data_offsets"])
        flat = torch.frombuffer(raw[begin:end], dtype=DTYPES[entry["dtype"]])
        result[name] = flat.view(entry["shape"]).clone()
    return result


class PlainBert:
    """Functions of a dictionary of weights. Dropout is off."""

    def __init__(self, folder: Path) -> None:
        self.config = json.loads((folder / "config.json").read_text())
        self.weights = {k: v.requires_grad_() for k, v in read_safetensors(folder / "model.safetensors").items()}

    def table(self, index: torch.Tensor, name: str, padding: int | None = None) -> torch.Tensor:
        return F.embedding(index, self.weights[f"bert.embeddings.{name}_embeddings.weight"], padding)

    def linear(self, x: torch.Tensor, name: str) -> torch.Tensor:
        return F.linear(x, self.weights[f"{name}.weight"], self.weights[f"{name}.bias"])

    def norm(self, x: torch.Tensor, name: str) -> torch.Tensor:
        weight = self.weights[f"{name}.weight"]
        return F.layer_norm(x, weight.shape, weight, self.weights[f"{name}.bias"], self.config["layer_norm_eps"])

    def attention(self, x: torch.Tensor, mask: torch.Tensor, name: str) -> torch.Tensor:
        heads = self.config["num_attention_heads"]
        shape = (x.shape[0], x.shape[1], heads, x.shape[2] // heads)
        q, k, v = (self.linear(x, f"{name}.{part}").view(shape).transpose(1, 2) for part in ("query", "key", "value"))
        scores = torch.matmul(q, k.transpose(2, 3)) / math.sqrt(shape[3]) + mask
        return torch.matmul(scores.softmax(-1), v).transpose(1, 2).reshape(x.shape)

    def __call__(self, ids: torch.Tensor, mask: torch.Tensor, types: torch.Tensor) -> torch.Tensor:
        """Logits [B, T, 2]."""
        x = self.table(ids, "word", self.config["pad_token_id"]) + self.table(types, "token_type")
        x = x + self.table(torch.arange(ids.shape[1])[None], "position")
        x = self.norm(x, "bert.embeddings.LayerNorm")
        added = (1.0 - mask[:, None, None, :].float()) * torch.finfo(torch.float32).min
        for i in range(self.config["num_hidden_layers"]):
            name = f"bert.encoder.layer.{i}"
            attended = self.linear(self.attention(x, added, f"{name}.attention.self"), f"{name}.attention.output.dense")
            x = self.norm(attended + x, f"{name}.attention.output.LayerNorm")
            inner = F.gelu(self.linear(x, f"{name}.intermediate.dense"))
            x = self.norm(self.linear(inner, f"{name}.output.dense") + x, f"{name}.output.LayerNorm")
        return self.linear(x, "qa_outputs")

    def named_parameters(self) -> list[tuple[str, torch.Tensor]]:
        return list(self.weights.items())
