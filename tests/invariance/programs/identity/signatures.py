"""inspect's view of torch's public functions: kind, signature, module, name, defaults, file and line."""
import inspect
import torch
import torch.utils.data
import seen

F = torch.nn.functional
net = seen.small_net()
seen.train(net, 10)
functions = [
    F.mse_loss, F.cross_entropy, F.nll_loss, F.l1_loss, F.binary_cross_entropy, F.relu, F.softmax, F.tanh,
    torch.autograd.backward, torch.autograd.grad, torch.save, torch.load, torch.nn.Module.__call__,
    torch.nn.Module.zero_grad, torch.nn.Module.forward, torch.nn.Module.to, torch.nn.Module.train,
    torch.optim.Optimizer.__init__, torch.optim.Optimizer.zero_grad, torch.optim.Optimizer.load_state_dict,
    torch.optim.SGD.step, torch.optim.Adam.step, torch.nn.utils.clip_grad_norm_, torch.nn.utils.clip_grad_value_,
    torch.utils.data.DataLoader.__iter__, torch.Tensor.backward, torch.cuda.amp.GradScaler.step,
    torch.cuda.amp.GradScaler.scale, torch.manual_seed, torch.nn.MSELoss.__call__, torch.nn.Linear.__call__,
]
for each in functions:
    name = getattr(each, "__qualname__", type(each).__name__)
    try:
        file, line = inspect.getsourcefile(each).split("/")[-1], inspect.getsourcelines(each)[1]
        print(name, inspect.isfunction(each), each.__module__, inspect.signature(each), file, line)
    except Exception as error:
        print(name, inspect.isfunction(each), type(error).__name__, error)
