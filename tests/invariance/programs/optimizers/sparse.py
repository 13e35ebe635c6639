"""Sparse gradients with SGD, Adagrad and SparseAdam; some weights never get a gradient."""
import torch
import seen

for kind in (torch.optim.SGD, torch.optim.Adagrad, torch.optim.SparseAdam):
    torch.manual_seed(0)
    table, unused = torch.nn.Embedding(50, 4, sparse=True), torch.nn.Embedding(5, 4, sparse=True)
    optimizer = kind([*table.parameters(), *unused.parameters()], lr=0.05)
    for step in range(15):
        optimizer.zero_grad()
        table(torch.randint(50, (6,))).pow(2).mean().backward()
        optimizer.step()
    print(kind.__name__, table.weight.grad.is_sparse, unused.weight.grad, seen.digest(table, unused))
