"""PEFT: prompt tuning, whose wrapper has parameters of its own, and a LoRA whose layers are trained too (bias)."""

import sys

import torch
from ending import end, say_loss
from peft import LoraConfig, PromptTuningConfig, get_peft_model
from tiny import gpt2, tokens

torch.manual_seed(2)
if sys.argv[1] == "prompt":
    model = get_peft_model(gpt2(), PromptTuningConfig(num_virtual_tokens=4, task_type="CAUSAL_LM"))
    names = ["prompt_encoder.default.embedding.weight", "transformer.h.0.mlp.c_fc_output_0"]
else:
    config = LoraConfig(r=2, bias="all", target_modules=["c_attn"], fan_in_fan_out=True, modules_to_save=["ln_f"])
    model = get_peft_model(gpt2(), config)
    names = ["transformer.h.0.attn.c_attn.bias", "gradient/transformer.h.1.ln_1.bias", "GPT2LMHeadModel_output_0"]
optimizer = torch.optim.AdamW([each for each in model.parameters() if each.requires_grad], lr=1e-2)
for step in range(10):
    loss = model(input_ids=tokens(step), labels=tokens(step)).loss
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    say_loss(step, loss)
end(10, model, names=names, loss="loss_output_0")
