"""Code objects of torch's functions: file, first line, names, constants, closure and dict of each."""
import torch
import torch.utils.data
import seen

F = torch.nn.functional
net = seen.small_net()
seen.train(net, 10)
functions = [
    F.mse_loss, F.cross_entropy, F.relu, F.softmax, torch.autograd.backward, torch.save, torch.load,
    torch.nn.Module.__call__, torch.nn.Module.zero_grad, torch.optim.Optimizer.zero_grad, torch.optim.SGD.step,
    torch.nn.utils.clip_grad_norm_, torch.utils.data.DataLoader.__iter__, torch.cuda.amp.GradScaler.scale,
    torch.optim.Optimizer.__init__, torch.optim.Optimizer.load_state_dict, torch.manual_seed,
]
for each in functions:
    code = getattr(each, "__code__", None)
    if code is None:
        print(type(each).__name__)
        continue
    place = code.co_filename.split("/")[-1], code.co_firstlineno
    print(each.__qualname__, place, len(code.co_code), code.co_names[:5], each.__closure__ is None, vars(each).keys())
