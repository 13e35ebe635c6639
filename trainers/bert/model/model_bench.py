"""Times PyTorch's BERT for spans on the tokens of a safetensors file, for comparison with bert_model_bench.

    python model_bench.py --make FOLDER INPUT --config bert-base --items 8   # needs transformers: weights and tokens
    python model_bench.py FOLDER INPUT                                       # any PyTorch since 1.13

With transformers it times Hugging Face's model, with fused (sdpa) and with eager attention; without, the same
computation as Hugging Face's eager model, written here. Dropout is off. Tensors: ids, mask, types int64 [B, T]; starts,
ends int64 [B].
"""

from __future__ import annotations

import argparse
import json
import math
import struct
import time
from pathlib import Path
from typing import Any, Callable

import torch
from torch.nn import functional as F

try:
    import transformers
except ImportError:
    transformers = None

CONFIGS = {"bert-base": {}, "minilm": dict(hidden_size=384, num_hidden_layers=6, intermediate_size=1536)}
DTYPES = {"F32": torch.float32, "I64": torch.int64}


def read_safetensors(path: Path) -> dict[str, torch.Tensor]:
    """All tensors of a file; Debian has no package for this."""
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
    """Hugging Face's eager BERT for spans, as functions of a dictionary of weights."""

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

    def parameters(self) -> list[torch.Tensor]:
        return list(self.weights.values())


def hugging_face(folder: Path, attention: str) -> tuple[Callable[..., torch.Tensor], list[torch.Tensor]]:
    """How to call Hugging Face's model, and its parameters."""
    load: Any = transformers.AutoModelForQuestionAnswering.from_pretrained
    model = load(folder, attn_implementation=attention).eval()

    def call(ids: torch.Tensor, mask: torch.Tensor, types: torch.Tensor) -> torch.Tensor:
        out = model(input_ids=ids, attention_mask=mask, token_type_ids=types)
        return torch.stack([out.start_logits, out.end_logits], -1)

    return call, list(model.parameters())


def middle_times(repeats: int, call: Callable[[], None]) -> str:
    """Seconds, and those of all threads: the middle of `repeats` calls, after one that is not counted."""
    call()
    wall, cpu = [], []
    for _ in range(repeats):
        start, cpu_start = time.perf_counter(), time.process_time()
        call()
        wall.append(time.perf_counter() - start)
        cpu.append(time.process_time() - cpu_start)
    return f"{sorted(wall)[repeats // 2]:.4f} (cpu {sorted(cpu)[repeats // 2]:.4f})"


def measure(name: str, call: Callable[..., torch.Tensor], parameters: list[torch.Tensor], data: dict[str, torch.Tensor],
            repeats: int) -> None:
    """Prints the loss, the gradient's norm and the times."""
    inputs = (data["ids"], data["mask"], data["types"])
    last: dict[str, float] = {}

    def train() -> None:
        for parameter in parameters:
            parameter.grad = None
        logits = call(*inputs)
        loss = (F.cross_entropy(logits[..., 0], data["starts"]) + F.cross_entropy(logits[..., 1], data["ends"])) / 2
        loss.backward()
        last["loss"] = loss.item()

    def evaluate() -> None:
        with torch.no_grad():
            call(*inputs)

    training = middle_times(repeats, train)
    norm = math.sqrt(sum(p.grad.square().sum().item() for p in parameters if p.grad is not None))
    evaluation = middle_times(repeats, evaluate)
    print(f"{name} torch {torch.__version__} loss {last['loss']:.7f} gradient {norm:.6f} "
          f"training_s {training} evaluation_s {evaluation}")


def make(folder: Path, file: Path, config: str, items: int, length: int) -> None:
    """Writes random weights, and tokens of items that are a quarter to wholly filled."""
    from safetensors.torch import save_file

    torch.manual_seed(1)
    model = transformers.BertForQuestionAnswering(transformers.BertConfig(**CONFIGS[config]))
    model.save_pretrained(folder)
    lengths = torch.linspace(length * 0.25, length, items).long()
    mask = (torch.arange(length) < lengths[:, None]).long()
    ids = torch.randint(1000, 30000, (items, length)) * mask
    save_file({"ids": ids, "mask": mask, "types": mask * (torch.arange(length) > 20),
               "starts": lengths // 2, "ends": lengths // 2 + 3}, file)


def main() -> None:
    """Reads the arguments, makes or measures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("input", type=Path)
    parser.add_argument("--make", action="store_true")
    parser.add_argument("--config", choices=CONFIGS, default="minilm")
    parser.add_argument("--items", type=int, default=8)
    parser.add_argument("--length", type=int, default=384)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=5)
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    if arguments.make:
        make(arguments.folder, arguments.input, arguments.config, arguments.items, arguments.length)
        return
    data = read_safetensors(arguments.input)
    if transformers is None:
        plain = PlainBert(arguments.folder)
        measure("plain", plain, plain.parameters(), data, arguments.repeats)
        return
    for attention in ("sdpa", "eager"):
        call, parameters = hugging_face(arguments.folder, attention)
        measure(f"hugging_face_{attention}", call, parameters, data, arguments.repeats)


if __name__ == "__main__":
    main()
