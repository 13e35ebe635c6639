"""Cells in a loop with truncated backpropagation through time; hidden states outlive their steps."""
import torch
import seen

torch.manual_seed(0)
embed, cell, head = torch.nn.Embedding(20, 8), torch.nn.GRUCell(8, 16), torch.nn.Linear(16, 20)
parameters = [*embed.parameters(), *cell.parameters(), *head.parameters()]
optimizer = torch.optim.Adam(parameters, 1e-2)
text = torch.randint(20, (400,))
hidden = torch.zeros(1, 16)
for begin in range(0, 380, 10):
    hidden = hidden.detach()
    loss = 0.0
    for index in range(begin, begin + 10):
        hidden = cell(embed(text[index : index + 1]), hidden)
        loss = loss + torch.nn.functional.cross_entropy(head(hidden), text[index + 1 : index + 2])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print("%.5f" % loss.item(), seen.digest(embed, cell, head))
