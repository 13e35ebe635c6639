"""Global hooks of modules and of optimizers: their registries are empty, and stay so."""
import torch
import seen


def registries():
    module = torch.nn.modules.module
    names = [name for name in vars(module) if name.startswith("_global_")]
    return {name: len(vars(module)[name] or ()) for name in names if not isinstance(vars(module)[name], bool)}


before = registries()
net = seen.small_net()
optimizer = seen.train(net, 20)
print(before == registries(), registries(), len(getattr(optimizer, "_optimizer_step_pre_hooks", ())))
modes = getattr(torch.overrides, "_get_current_function_mode_stack", list)
print(modes(), seen.digest(net))
