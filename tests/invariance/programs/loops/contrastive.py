"""Two views through one encoder, a momentum encoder and a queue of keys (MoCo)."""
import copy
import torch
import seen

encoder = seen.small_net(outputs=6)
momentum = copy.deepcopy(encoder)
for parameter in momentum.parameters():
    parameter.requires_grad_(False)
keys = torch.nn.functional.normalize(torch.randn(6, 32), dim=0)
optimizer = torch.optim.SGD(encoder.parameters(), 0.03, momentum=0.9, weight_decay=1e-4)
for step in range(30):
    x = torch.randn(8, 4)
    query = torch.nn.functional.normalize(encoder(x + 0.1 * torch.randn(8, 4)), dim=1)
    with torch.no_grad():
        for slow, fast in zip(momentum.parameters(), encoder.parameters()):
            slow.mul_(0.99).add_(fast, alpha=0.01)
        key = torch.nn.functional.normalize(momentum(x), dim=1)
    logits = torch.cat([(query * key).sum(1, keepdim=True), query @ keys], 1) / 0.1
    optimizer.zero_grad()
    torch.nn.functional.cross_entropy(logits, torch.zeros(8, dtype=torch.long)).backward()
    optimizer.step()
    keys[:, step % 4 * 8 : step % 4 * 8 + 8] = key.T
print(seen.digest(encoder, momentum), seen.digest_of(keys))
