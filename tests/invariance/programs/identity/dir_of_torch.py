"""dir() of torch's modules and classes: no name more and none less; none comes from a package of others."""
import hashlib
import torch
import torch.utils.data
import seen

net = seen.small_net()
seen.train(net, 10)
places = [
    torch, torch.nn, torch.nn.functional, torch.nn.Module, torch.optim, torch.optim.Optimizer, torch.optim.SGD,
    torch.autograd, torch.utils, torch.utils.data, torch.utils.data.DataLoader, torch.Tensor, torch.serialization,
    torch.nn.utils, torch.cuda.amp.GradScaler, torch.nn.modules.module, torch.nn.MSELoss, torch.nn.Linear,
]
for place in places:
    names = sorted(vars(place)) if isinstance(place, type) else dir(place)
    homes = {name: getattr(getattr(place, name, None), "__module__", None) or "" for name in names}
    foreign = [name for name, home in homes.items() if home.startswith("train")]
    print(place.__name__, len(names), hashlib.sha256(" ".join(names).encode()).hexdigest()[:12], foreign)
