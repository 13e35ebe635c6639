"""A small transformer with causal masks, packed as nn.TransformerEncoder, trained with label smoothing."""
import torch
import seen

torch.manual_seed(0)
embed = torch.nn.Embedding(30, 16)
layer = torch.nn.TransformerEncoderLayer(16, 2, 32, dropout=0.1, batch_first=True, norm_first=True)
encoder, head = torch.nn.TransformerEncoder(layer, 2), torch.nn.Linear(16, 30)
parameters = [*embed.parameters(), *encoder.parameters(), *head.parameters()]
optimizer = torch.optim.AdamW(parameters, 1e-3)
mask = torch.triu(torch.full((8, 8), float("-inf")), 1)
loss_of = torch.nn.CrossEntropyLoss(label_smoothing=0.1, ignore_index=3)
for step in range(25):
    tokens = torch.randint(30, (4, 9))
    optimizer.zero_grad()
    logits = head(encoder(embed(tokens[:, :-1]), mask))
    loss_of(logits.flatten(0, 1), tokens[:, 1:].flatten()).backward()
    optimizer.step()
print(seen.digest(embed, encoder, head), seen.random_states())
