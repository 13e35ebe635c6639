"""Trainers of libraries: a row of the table for each of KINDS."""

import sys
import tempfile
import warnings

import torch
from ending import end, say_loss
from tiny import Net, batch, gpt2, tokens
from torch.nn import functional as F
from torch.utils.data import DataLoader, Dataset

STEPS = 10
NAMES = ["transformer.h.0.attn.c_attn.weight", "gradient/transformer.wte.weight", "GPT2LMHeadModel_output_0"]
warnings.filterwarnings("ignore")


class Texts(Dataset):
    def __len__(self):
        return 64

    def __getitem__(self, index):
        words = tokens(index, size=1)[0]
        return {"input_ids": words, "labels": words}


def bert():
    from transformers import BertConfig, BertForMaskedLM

    return BertForMaskedLM(BertConfig(vocab_size=64, hidden_size=32, num_hidden_layers=2, num_attention_heads=2,
                                      intermediate_size=64, max_position_embeddings=32))  # fmt: skip


def transformers(model, names=NAMES, **settings):
    from transformers import PrinterCallback, Trainer, TrainingArguments

    with tempfile.TemporaryDirectory() as folder:
        arguments = TrainingArguments(
            folder, max_steps=STEPS, per_device_train_batch_size=2, logging_steps=1, report_to=[], use_cpu=True,
            disable_tqdm=True, save_strategy="no", eval_strategy="steps", eval_steps=5, **settings,
        )  # fmt: skip
        few = torch.utils.data.Subset(Texts(), [1, 2])
        trainer = Trainer(model, arguments, train_dataset=Texts(), eval_dataset=few)
        trainer.remove_callback(PrinterCallback)
        trainer.train()
    for entry in trainer.state.log_history:
        if "loss" in entry or "eval_loss" in entry:
            say_loss(entry["step"], entry.get("loss", entry.get("eval_loss")))
    end(STEPS, model, names=names, loss="loss_output_0")


def accelerate():
    """B2."""
    from accelerate import Accelerator

    accelerator, model = Accelerator(cpu=True, gradient_accumulation_steps=2), Net()
    called, optimizer = accelerator.prepare(model, torch.optim.SGD(model.parameters(), lr=0.1))
    for part in range(2 * STEPS):
        with accelerator.accumulate(called):
            x, y = batch(part)
            value = F.cross_entropy(called(x), y)
            accelerator.backward(value)
            optimizer.step()
            optimizer.zero_grad()
            say_loss(part, value)
    end(STEPS, model, names=["stem.weight", "gradient/head.weight", "Net_output_0"], loss="nll_loss_output_0")


def lightning(**settings):
    import lightning.pytorch as pl

    class Task(pl.LightningModule):
        def __init__(self):
            super().__init__()
            self.net = Net()

        def training_step(self, data, index):
            value = F.cross_entropy(self.net(data[0][0]), data[1][0])
            say_loss(index, value)
            self.log("train_loss", value)
            return value

        def validation_step(self, data, index):
            self.log("val_loss", F.cross_entropy(self.net(data[0][0]), data[1][0]))

        def configure_optimizers(self):
            return torch.optim.AdamW(self.parameters(), lr=1e-2)

    task = Task()
    data = DataLoader([batch(index) for index in range(STEPS)])
    with tempfile.TemporaryDirectory() as folder:
        trainer = pl.Trainer(
            max_steps=STEPS, accelerator="cpu", devices=1, logger=False, enable_progress_bar=False,
            enable_model_summary=False, enable_checkpointing=False, default_root_dir=folder, **settings,
        )  # fmt: skip
        trainer.fit(task, data, DataLoader([batch(99)]))
    end(STEPS, task, names=["net.stem.weight", "gradient/net.head.weight"], loss="nll_loss_output_0")


if __name__ == "__main__":
    torch.manual_seed(22)
    kinds = {
        "gpt2": lambda: transformers(gpt2()),
        "gpt2_accumulate": lambda: transformers(gpt2(), gradient_accumulation_steps=4),
        "gpt2_bf16": lambda: transformers(gpt2(), bf16=True),
        "gpt2_compile": lambda: transformers(gpt2(), torch_compile=True),
        "bert": lambda: transformers(bert(), ["bert.embeddings.word_embeddings.weight", "BertForMaskedLM_output_0"]),
        "unclipped": lambda: transformers(gpt2(), max_grad_norm=0.0),
        "accelerate": accelerate,
        "lightning": lightning,
        "lightning_accumulate": lambda: lightning(accumulate_grad_batches=4),
    }
    kinds[sys.argv[1]]()
