"""PEFT: LoRA on a GPT-2, with dropout, evaluated with and without the adapter."""

import torch
from ending import end, say_loss
from peft import LoraConfig, get_peft_model
from tiny import gpt2, tokens

torch.manual_seed(2)
config = LoraConfig(r=4, lora_dropout=0.1, target_modules=["c_attn"], fan_in_fan_out=True, task_type="CAUSAL_LM")
model = get_peft_model(gpt2(), config)
optimizer = torch.optim.AdamW([each for each in model.parameters() if each.requires_grad], lr=1e-2)
for step in range(12):
    loss = model(input_ids=tokens(step), labels=tokens(step)).loss
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    say_loss(step, loss)
model.eval()
with torch.no_grad():
    say_loss("eval", model(input_ids=tokens(99), labels=tokens(99)).loss)
    with model.disable_adapter():
        say_loss("eval", model(input_ids=tokens(99), labels=tokens(99)).loss)
layer = "transformer.h.0.attn.c_attn"
names = [f"{layer}.lora_A.default.weight", f"gradient/{layer}.lora_B.default.weight", f"{layer}_output_0"]
end(12, model, names=[*names, f"{layer}.base_layer_output_0", "GPT2LMHeadModel_output_0"], loss="loss_output_0")
