"""Models and batches for comparisons: random ones of any shape, and real questions. Needs transformers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Iterator

import torch
import transformers
from safetensors.torch import save_file

SHAPES: dict[str, dict[str, int]] = {
    "bert-base": {},
    "bert-large": dict(hidden_size=1024, num_hidden_layers=24, num_attention_heads=16, intermediate_size=4096),
    "minilm": dict(hidden_size=384, num_hidden_layers=6, intermediate_size=1536),
    "tiny": dict(vocab_size=211, hidden_size=44, num_hidden_layers=2, num_attention_heads=4, intermediate_size=90,
                 max_position_embeddings=80)}


def random_model(shape: str, folder: Path) -> None:
    """A BERT for spans with the weights that Hugging Face begins with."""
    torch.manual_seed(1)
    transformers.BertForQuestionAnswering(transformers.BertConfig(**SHAPES[shape])).save_pretrained(folder)


def with_span_head(source: Path, folder: Path) -> None:
    """A copy of a model with a random head for spans."""
    torch.manual_seed(1)
    transformers.BertForQuestionAnswering.from_pretrained(source).save_pretrained(folder)


def random_batches(file: Path, count: int, items: int, length: int, vocabulary: int, shortest: float = 0.25) -> None:
    """Batches of random tokens. Of their length the shortest item fills this part, the longest all."""
    torch.manual_seed(2)
    lengths = torch.linspace(length * shortest, length, items).long().expand(count, items)
    mask = (torch.arange(length) < lengths[..., None]).long()
    types = mask * (torch.arange(length) >= length // 8)
    ids = torch.randint(vocabulary // 30, vocabulary, (count, items, length)) * mask
    starts = (torch.rand(count, items) * (lengths - 4)).long()
    save_file({"ids": ids, "mask": mask, "types": types, "starts": starts, "ends": starts + 3}, file)


def questions_of(squad: Path) -> Iterator[tuple[str, str, int, int]]:
    """Question, context, and where its first answer begins and ends."""
    for article in json.loads(squad.read_text(encoding="utf-8"))["data"]:
        for paragraph in article["paragraphs"]:
            for qa in paragraph["qas"]:
                answer = qa["answers"][0]
                begin = answer["answer_start"]
                yield qa["question"], paragraph["context"], begin, begin + len(answer["text"]) - 1


def squad_batches(file: Path, vocabulary: Path, squad: Path, count: int, items: int, length: int) -> None:
    """Batches of the first questions whose answers lie in a window of this length."""
    tokenizer: Any = transformers.BertTokenizerFast(vocab_file=str(vocabulary))
    columns: dict[str, list[Any]] = {name: [] for name in ("ids", "mask", "types", "starts", "ends")}
    for question, context, begin, end in questions_of(squad):
        window = tokenizer(question, context, max_length=length, truncation="only_second", padding="max_length")
        start, stop = (window.char_to_token(at, sequence_index=1) for at in (begin, end))
        if start is None or stop is None:
            continue
        for name, value in (("ids", window["input_ids"]), ("mask", window["attention_mask"]),
                            ("types", window["token_type_ids"]), ("starts", start), ("ends", stop)):
            columns[name].append(value)
        if len(columns["ids"]) == count * items:
            break
    save_file({name: torch.tensor(values).view(count, items, *torch.tensor(values[0]).shape)
               for name, values in columns.items()}, file)
