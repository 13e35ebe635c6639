"""smdebug (awslabs/sagemaker-debugger#222): pretrained embeddings that need no gradients, and unused heads."""
import torch
import seen

torch.manual_seed(0)
table = torch.nn.Embedding.from_pretrained(torch.randn(20, 4), freeze=True)
head, unused = torch.nn.Linear(4, 2), torch.nn.Linear(4, 2)
net = torch.nn.ModuleDict({"table": table, "head": head, "unused": unused})
optimizer = torch.optim.Adam([each for each in net.parameters() if each.requires_grad], 0.01)
for step in range(25):
    optimizer.zero_grad()
    ids = torch.randint(20, (8,))
    torch.nn.functional.cross_entropy(net["head"](net["table"](ids)), ids % 2).backward()
    optimizer.step()
print([each.grad is None for each in net.parameters()], seen.digest(net))
