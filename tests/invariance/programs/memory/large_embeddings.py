"""A table of 200,000 embeddings, of which each step uses few; sparse gradients and SparseAdam."""
import torch
import seen

torch.manual_seed(0)
torch.set_num_threads(1)
table = torch.nn.Embedding(200_000, 32, sparse=True)
optimizer = torch.optim.SparseAdam(table.parameters(), 0.01)
for step in range(15):
    optimizer.zero_grad()
    table(torch.randint(200_000, (64,))).pow(2).sum().backward()
    optimizer.step()
print(seen.digest(table))
