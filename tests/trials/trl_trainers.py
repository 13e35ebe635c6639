"""TRL: SFTTrainer ("sft"), DPOTrainer ("dpo"), and SFTTrainer with PEFT's LoRA ("lora")."""

import copy
import sys
import tempfile

from datasets import Dataset
from ending import end, say_loss
from tiny import counting, gpt2, tokenizer
from transformers import PrinterCallback, set_seed

STEPS = 10


def settings(folder):
    return {
        "output_dir": folder, "max_steps": STEPS, "per_device_train_batch_size": 2, "learning_rate": 1e-3,
        "logging_steps": 1, "report_to": [], "use_cpu": True, "disable_tqdm": True, "save_strategy": "no",
        "eval_strategy": "steps", "eval_steps": 5, "bf16": False, "gradient_checkpointing": False,
    }  # fmt: skip


def sft(folder, peft_config=None):
    from trl import SFTConfig, SFTTrainer

    texts = Dataset.from_list([{"text": counting(first, 12)} for first in range(40)])
    return SFTTrainer(
        gpt2(), SFTConfig(**settings(folder), max_length=16), train_dataset=texts, peft_config=peft_config,
        eval_dataset=texts.select(range(4)), processing_class=tokenizer(),
    )  # fmt: skip


def dpo(folder):
    from trl import DPOConfig, DPOTrainer

    pairs = Dataset.from_list(
        [
            {"prompt": counting(at, 4), "chosen": " " + counting(at + 4, 4), "rejected": " " + counting(at * 7, 4)}
            for at in range(40)
        ]
    )
    model = gpt2()
    return DPOTrainer(
        model, ref_model=copy.deepcopy(model), args=DPOConfig(**settings(folder), max_length=16), train_dataset=pairs,
        eval_dataset=pairs.select(range(4)), processing_class=tokenizer(),
    )  # fmt: skip


def lora(folder):
    from peft import LoraConfig

    return sft(folder, LoraConfig(r=4, target_modules=["c_attn"], fan_in_fan_out=True, task_type="CAUSAL_LM"))


def main(kind):
    set_seed(6)
    with tempfile.TemporaryDirectory() as folder:
        trainer = {"sft": sft, "dpo": dpo, "lora": lora}[kind](folder)
        trainer.remove_callback(PrinterCallback)  # it prints times
        trainer.train()
    for entry in trainer.state.log_history:
        if "loss" in entry or "eval_loss" in entry:
            say_loss(entry["step"], entry.get("loss", entry.get("eval_loss")))
    layer = "transformer.h.0.attn.c_attn"
    names = [f"{layer}.lora_A.default.weight", f"gradient/{layer}.lora_B.default.weight", "GPT2LMHeadModel_output_0"]
    plain = [f"{layer}.weight", f"gradient/{layer}.weight", f"{layer}_output_0", "GPT2LMHeadModel_output_0"]
    end(STEPS, trainer.model, names=names if kind == "lora" else plain, loss="loss_output_0")


if __name__ == "__main__":
    main(sys.argv[1])
