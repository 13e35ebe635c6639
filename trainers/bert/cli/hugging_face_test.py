"""Models that `bert` has trained, and their tokenizers, are loaded by Hugging Face and say the same there.

    python hugging_face_test.py --bert build/release/bin/bert

Skips (exit status 77) without transformers. Models are small and random; losses agree within 1e-5.
"""

from __future__ import annotations

import argparse
import json
import struct
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

try:
    import torch
    import transformers
except ImportError as missing:
    print(f"skipped: {missing}. Run it with a Python that has torch and transformers", file=sys.stderr)
    sys.exit(77)

PIECES = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *"abcdefghijklmnopqrstuvwxyz", *(f"##{c}" for c in "aeiou"),
          ".", "!", "good", "bad", "dress", "shirt", "'"]
TEXTS = [("Good dress!", 5), ("bad shirt.", 1), ("the dress is a good one", 5), ("a shirt, bad", 2), ("it's \u00e9t\u00e9", 1),
         ("Bad! bad dress", 2)]
# What GluonNLP calls the parameters of BERT, in this order of replacements.
GLUON = [("bert.embeddings.word_embeddings.", "word_embed.0."), ("bert.embeddings.token_type_embeddings.", "token_type_embed.0."),
         ("bert.embeddings.position_embeddings.weight", "encoder.position_weight"), ("bert.embeddings.LayerNorm.", "encoder.layer_norm."),
         ("bert.encoder.layer.", "encoder.transformer_cells."), (".attention.self.", ".attention_cell.proj_"),
         (".attention.output.dense.", ".proj."), (".attention.output.LayerNorm.", ".layer_norm."),
         (".intermediate.dense.", ".ffn.ffn_1."), (".output.dense.", ".ffn.ffn_2."), (".output.LayerNorm.", ".ffn.layer_norm."),
         ("bert.pooler.dense.", "pooler."), ("cls.predictions.transform.dense.", "decoder.0."),
         ("cls.predictions.transform.LayerNorm.", "decoder.2."), ("cls.predictions.bias", "decoder.3.bias"),
         ("cls.seq_relationship.", "classifier."), ("layer_norm.weight", "layer_norm.gamma"), ("layer_norm.bias", "layer_norm.beta"),
         ("decoder.2.weight", "decoder.2.gamma"), ("decoder.2.bias", "decoder.2.beta")]
bert = ""


def gluon_name(name: str) -> str:
    """GluonNLP's name of a parameter."""
    for theirs, gluon in GLUON:
        name = name.replace(theirs, gluon)
    return name


def write_params(file: Path, model: torch.nn.Module) -> None:
    """Writes the model's parameters as mx.nd.save() does: arrays of version 2, float32, then their names."""
    arrays, names = b"", b""
    parameters = dict(model.named_parameters())
    for name, value in parameters.items():
        shape = struct.pack(f"<I{value.dim()}q", value.dim(), *value.shape)
        arrays += struct.pack("<Ii", 0xF993FAC9, 0) + shape + struct.pack("<iii", 1, 0, 0) + value.detach().numpy().tobytes()
        names += struct.pack("<Q", len(gluon_name(name))) + gluon_name(name).encode()
    count = struct.pack("<Q", len(parameters))
    file.write_bytes(struct.pack("<QQ", 0x112, 0) + count + arrays + count + names)


def small_model(kind: str, folder: Path) -> None:
    """Writes a small random model for masked words with its vocabulary."""
    if kind == "bert":
        config = transformers.BertConfig(vocab_size=len(PIECES), hidden_size=32, num_hidden_layers=2, num_attention_heads=2,
                                         intermediate_size=64, max_position_embeddings=40)
    else:
        config = transformers.DistilBertConfig(vocab_size=len(PIECES), dim=32, n_layers=2, n_heads=2, hidden_dim=64,
                                               max_position_embeddings=40)
    transformers.AutoModelForMaskedLM.from_config(config).save_pretrained(folder)
    (folder / "vocab.txt").write_text("\n".join(PIECES) + "\n", encoding="utf-8")


def run(*arguments: object) -> None:
    """Runs bert; fails with what it says."""
    done = subprocess.run([bert, *map(str, arguments)], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise AssertionError(done.stdout + done.stderr)


class HuggingFace(unittest.TestCase):
    """What our program leaves, in Hugging Face's library."""

    def setUp(self) -> None:
        torch.manual_seed(3)
        work = tempfile.TemporaryDirectory()
        self.addCleanup(work.cleanup)
        self.folder = Path(work.name)

    def judge(self, folder: Path, length: int) -> tuple[float, list[int]]:
        """The loss of Hugging Face's model on the texts, and what it takes them for."""
        tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
        model = transformers.AutoModelForSequenceClassification.from_pretrained(folder).eval()
        inputs = tokenizer([text for text, _ in TEXTS], padding=True, truncation=True, max_length=length, return_tensors="pt")
        labels = torch.tensor([model.config.label2id[str(label)] for _, label in TEXTS])
        inputs.pop("token_type_ids", None)
        with torch.no_grad():
            logits = model(**inputs).logits
        return torch.nn.functional.cross_entropy(logits, labels).item(), logits.argmax(1).tolist()

    def confusion(self, taken: list[int], classes: list[str]) -> list[list[int]]:
        """Counts of actual and of predicted classes."""
        counts = [[0] * len(classes) for _ in classes]
        for (_, label), predicted in zip(TEXTS, taken):
            counts[classes.index(str(label))][predicted] += 1
        return counts

    def test_classifiers_say_the_same(self) -> None:
        data = self.folder / "texts.jsonl"
        data.write_text("".join(json.dumps({"text": text, "label": label}) + "\n" for text, label in TEXTS), encoding="utf-8")
        for kind, length in (("bert", 16), ("distilbert", 7)):
            with self.subTest(kind=kind):
                model, out = self.folder / kind, self.folder / f"{kind}-out"
                small_model(kind, model)
                run("train-classes", "--model", model, "--train", data, "--validation", data, "--out", out, "--no-hook",
                    "--epochs", 4, "--batch-size", 2, "--learning-rate", 0.005, "--max_seq_length", length)
                after = json.loads((out / "result.json").read_text())["after"]
                loss, taken = self.judge(out / "model", length)
                self.assertAlmostEqual(loss, after["loss"], delta=1e-5)
                self.assertEqual(self.confusion(taken, ["1", "2", "5"]), after["confusion"])

    def test_converted_models_say_the_same(self) -> None:
        published = self.folder / "published"
        small_model("bert", published)
        model = transformers.BertForPreTraining(transformers.AutoConfig.from_pretrained(published)).eval()
        write_params(published / "bert.params", model)
        run("convert", published, "--out", self.folder / "out")
        converted = transformers.BertForPreTraining.from_pretrained(self.folder / "out").eval()
        tokenizer = transformers.AutoTokenizer.from_pretrained(self.folder / "out")
        inputs = tokenizer([text for text, _ in TEXTS], padding=True, return_tensors="pt")
        with torch.no_grad():
            before, after = model(**inputs), converted(**inputs)
        self.assertTrue(torch.equal(before.prediction_logits, after.prediction_logits))
        self.assertTrue(torch.equal(before.seq_relationship_logits, after.seq_relationship_logits))

    def test_models_of_masked_words_are_loaded(self) -> None:
        texts = self.folder / "texts.txt"
        texts.write_text("\n".join(text for text, _ in TEXTS), encoding="utf-8")
        for kind in ("bert", "distilbert"):
            with self.subTest(kind=kind):
                small_model(kind, self.folder / kind)
                run("train-words", "--model", self.folder / kind, "--texts", texts, "--out", self.folder / "out", "--no-hook",
                    "--max-steps", 2, "--max-length", 12, "--checkpoint-interval", 0)
                model, told = transformers.AutoModelForMaskedLM.from_pretrained(self.folder / "out/model",
                                                                                output_loading_info=True)
                self.assertEqual(list(told["missing_keys"]), [])
                self.assertEqual(list(told["unexpected_keys"]), [])
                self.assertEqual(model.config.vocab_size, len(PIECES))


def main() -> None:
    """Reads the arguments and runs the tests."""
    global bert
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bert", required=True, help="the program bert")
    arguments, rest = parser.parse_known_args()
    bert = arguments.bert
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    unittest.main(argv=[sys.argv[0], *rest])


if __name__ == "__main__":
    main()
