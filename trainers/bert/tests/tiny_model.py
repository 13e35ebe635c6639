"""A BERT of two small layers with random weights, and questions that it learns, for tests that train it in seconds.

Needs the standard library only. In each question what is asked for stands behind the word that the question names.
"""

from __future__ import annotations

import array
import json
import random
import struct
from pathlib import Path

WORDS = 24
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "where", "is", "the", "?", "in"]
HIDDEN, LAYERS, HEADS, WIDE, POSITIONS = 32, 2, 2, 64, 64


def word(number: int) -> str:
    """One of the words of the texts."""
    return chr(ord("a") + number % WORDS) + "word"


def write_model(folder: Path, seed: int = 1) -> None:
    """config.json, vocab.txt and model.safetensors, as Hugging Face's library writes them."""
    folder.mkdir(parents=True)
    pieces = SPECIAL + [word(i) for i in range(WORDS)]
    (folder / "vocab.txt").write_text("".join(piece + "\n" for piece in pieces))
    config = dict(model_type="bert", vocab_size=len(pieces), hidden_size=HIDDEN, num_hidden_layers=LAYERS,
                  num_attention_heads=HEADS, intermediate_size=WIDE, max_position_embeddings=POSITIONS,
                  type_vocab_size=2)
    (folder / "config.json").write_text(json.dumps(config))
    _write_safetensors(folder / "model.safetensors", shapes_of_model(), random.Random(seed))


def write_questions(file: Path, count: int) -> None:
    """In SQuAD's flat form, of three articles."""
    questions = []
    for i in range(count):
        context = f"{word(i)} {word(i + 7)} in {word(i + 3)} the {word(i + 11)}"
        questions.append({"id": str(i), "title": f"t{i % 3}", "question": f"where is {word(i)} ?", "context": context,
                          "answers": {"text": [word(i + 7)], "answer_start": [6]}})
    file.write_text(json.dumps(questions))


def shapes_of_model() -> dict[str, list[int]]:
    """Of each of its tensors, by the name that Hugging Face's library gives it."""
    vocabulary = len(SPECIAL) + WORDS
    shapes = {
        "bert.embeddings.word_embeddings.weight": [vocabulary, HIDDEN],
        "bert.embeddings.position_embeddings.weight": [POSITIONS, HIDDEN],
        "bert.embeddings.token_type_embeddings.weight": [2, HIDDEN],
        "bert.embeddings.LayerNorm.weight": [HIDDEN],
        "bert.embeddings.LayerNorm.bias": [HIDDEN],
        "qa_outputs.weight": [2, HIDDEN],
        "qa_outputs.bias": [2],
    }
    parts = {"attention.self.query": [HIDDEN, HIDDEN], "attention.self.key": [HIDDEN, HIDDEN],
             "attention.self.value": [HIDDEN, HIDDEN], "attention.output.dense": [HIDDEN, HIDDEN],
             "attention.output.LayerNorm": [HIDDEN], "intermediate.dense": [WIDE, HIDDEN],
             "output.dense": [HIDDEN, WIDE], "output.LayerNorm": [HIDDEN]}
    for layer in range(LAYERS):
        for part, shape in parts.items():
            shapes[f"bert.encoder.layer.{layer}.{part}.weight"] = shape
            shapes[f"bert.encoder.layer.{layer}.{part}.bias"] = shape[:1]
    return shapes


def _write_safetensors(file: Path, shapes: dict[str, list[int]], numbers: random.Random) -> None:
    header, body = {}, bytearray()
    for name, shape in shapes.items():
        count = shape[0] * (shape[1] if len(shape) > 1 else 1)
        is_norm = name.endswith("LayerNorm.weight")
        values = [1.0 if is_norm else 0.0 if name.endswith("bias") else numbers.gauss(0, 0.02) for _ in range(count)]
        begin = len(body)
        body += array.array("f", values).tobytes()
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [begin, len(body)]}
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    file.write_bytes(struct.pack("<Q", len(text)) + text + body)
