"""What bert_span_trainer does, with PyTorch: trains and evaluates a BERT for spans on batches of a safetensors file.

    python rival.py FOLDER BATCHES --steps N --attention sdpa    # then "train" or "evaluate", a line each

Answers with a JSON object a line, after one that says what it runs on. Attention: sdpa and eager are those of
transformers' model; plain is plain_bert.py, for a PyTorch without transformers. Dropout is off. Tensors: ids, mask, types
int64 [N, B, T]; starts, ends int64 [N, B].
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from typing import Any, Callable

import torch
from torch.nn import functional as F

import plain_bert

try:
    import transformers
except ImportError:
    transformers = None

Call = Callable[..., torch.Tensor]
NO_LOGIT = -10000.0  # of padding, as heads.cc has it
WITHOUT_DECAY = ("bias", "LayerNorm")


def hugging_face(options: argparse.Namespace) -> tuple[Call, list[tuple[str, torch.Tensor]]]:
    """How to get the loss of Hugging Face's model, and its parameters."""
    model = transformers.BertForQuestionAnswering.from_pretrained(
        options.folder, attn_implementation=options.attention).eval().to(options.device)
    forward: Any = torch.compile(model, mode=options.compile_mode) if options.compile else model

    def loss_without_padding(ids: Any, mask: Any, types: Any, starts: Any, ends: Any) -> torch.Tensor:
        found = forward(input_ids=ids, attention_mask=mask, token_type_ids=types)
        both = (found.start_logits, found.end_logits)
        first, last = (logits.float().masked_fill(mask == 0, NO_LOGIT) for logits in both)
        return (F.cross_entropy(first, starts) + F.cross_entropy(last, ends)) / 2

    def loss_of(ids: Any, mask: Any, types: Any, starts: Any, ends: Any) -> torch.Tensor:
        return forward(input_ids=ids, attention_mask=mask, token_type_ids=types, start_positions=starts,
                       end_positions=ends).loss

    return loss_without_padding if options.skip_padding else loss_of, list(model.named_parameters())


def plain(folder: Path) -> tuple[Call, list[tuple[str, torch.Tensor]]]:
    """The same of plain_bert.py's model."""
    model = plain_bert.PlainBert(folder)

    def loss_of(ids: Any, mask: Any, types: Any, starts: Any, ends: Any) -> torch.Tensor:
        logits = model(ids, mask, types)
        return (F.cross_entropy(logits[..., 0], starts) + F.cross_entropy(logits[..., 1], ends)) / 2

    return loss_of, model.named_parameters()


def adamw(parameters: list[tuple[str, torch.Tensor]], options: argparse.Namespace) -> torch.optim.AdamW:
    """PyTorch's, its quickest: in one pass where there is one."""
    groups = [{"params": [p for name, p in parameters if not any(part in name for part in WITHOUT_DECAY)],
               "weight_decay": options.weight_decay},
              {"params": [p for name, p in parameters if any(part in name for part in WITHOUT_DECAY)],
               "weight_decay": 0.0}]
    quickest = {"fused": True} if torch.__version__ >= "2.4" else {"foreach": True}
    return torch.optim.AdamW(groups, lr=options.learning_rate, **quickest)


def schedule(optimizer: torch.optim.Optimizer, warmup: int, steps: int) -> torch.optim.lr_scheduler.LambdaLR:
    """transformers' get_linear_schedule_with_warmup."""
    if transformers is not None:
        return transformers.get_linear_schedule_with_warmup(optimizer, warmup, steps)
    return torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda t: t / warmup if t < warmup else max(0.0, (steps - t) / max(1, steps - warmup)))


class Trainer:
    """A training with all that changes while it goes on."""

    def __init__(self, options: argparse.Namespace) -> None:
        if options.attention == "plain":
            self.loss_of, parameters = plain(options.folder)
        else:
            self.loss_of, parameters = hugging_face(options)
        self.parameters = [parameter for _, parameter in parameters]
        self.optimizer = adamw(parameters, options)
        self.schedule = schedule(self.optimizer, options.warmup_steps, options.steps)
        self.batches = {name: tensor.to(options.device)
                        for name, tensor in plain_bert.read_safetensors(options.batches).items()}
        self.autocast = torch.autocast(options.device, torch.bfloat16, enabled=options.precision == "bfloat16")
        self.max_norm = options.max_norm
        self.step = 0

    def batch(self) -> list[torch.Tensor]:
        return [self.batches[name][self.step % len(self.batches[name])]
                for name in ("ids", "mask", "types", "starts", "ends")]

    def train(self) -> dict[str, float]:
        """One step; its loss, and the norm of the gradients before they are clipped."""
        self.optimizer.zero_grad(set_to_none=True)
        with self.autocast:
            loss = self.loss_of(*self.batch())
        loss.backward()
        norm = torch.nn.utils.clip_grad_norm_(self.parameters, self.max_norm)
        self.optimizer.step()
        self.schedule.step()
        self.step += 1
        return {"loss": loss.item(), "norm": norm.item()}

    def evaluate(self) -> dict[str, float]:
        """The loss on the batch that train() would take next."""
        with torch.inference_mode(), self.autocast:
            return {"loss": self.loss_of(*self.batch()).item(), "norm": 0.0}


def option_parser() -> argparse.ArgumentParser:
    """The same options as bert_span_trainer's, and which attention."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("batches", type=Path)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--learning-rate", type=float, default=5e-5)
    parser.add_argument("--warmup-steps", type=int, default=0)
    parser.add_argument("--steps", type=int, required=True)
    parser.add_argument("--weight-decay", type=float, default=0.01)
    parser.add_argument("--max-norm", type=float, default=1.0)
    parser.add_argument("--attention", choices=("sdpa", "eager", "plain"), default="sdpa")
    parser.add_argument("--skip-padding", action="store_true",
                        help="padding is no answer, as in bert_span_trainer, where it is not computed either")
    parser.add_argument("--compile", action="store_true")
    parser.add_argument("--compile-mode", choices=("default", "reduce-overhead", "max-autotune-no-cudagraphs"),
                        default="default")
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--precision", choices=("float32", "bfloat16"), default="float32")
    return parser


def main() -> None:
    """Answers each line of the standard input."""
    options = option_parser().parse_args()
    torch.set_num_threads(options.threads)
    trainer = Trainer(options)
    with_transformers = "" if options.attention == "plain" else f"transformers {transformers.__version__}, "
    name = f"{with_transformers}{options.attention}{f', compiled, {options.compile_mode}' if options.compile else ''}"
    print(json.dumps({"name": name, "torch": torch.__version__}), flush=True)
    for line in sys.stdin:
        begin, cpu_begin = time.perf_counter(), time.process_time()
        told = {"train": trainer.train, "evaluate": trainer.evaluate}[line.strip()]()
        told["seconds"], told["cpu_seconds"] = time.perf_counter() - begin, time.process_time() - cpu_begin
        print(json.dumps(told), flush=True)


if __name__ == "__main__":
    main()
