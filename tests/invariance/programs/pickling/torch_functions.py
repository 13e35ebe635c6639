"""Functions and methods of torch itself are pickled, copied and compared."""
import copy
import io
import pickle
import torch
import torch.utils.data
import seen

net = seen.small_net()
seen.train(net, 10)
loader = torch.utils.data.DataLoader([1, 2, 3])
things = {
    "mse_loss": torch.nn.functional.mse_loss,
    "cross_entropy": torch.nn.functional.cross_entropy,
    "relu": torch.nn.functional.relu,
    "backward": torch.autograd.backward,
    "grad": torch.autograd.grad,
    "save": torch.save,
    "load": torch.load,
    "call": torch.nn.Module.__call__,
    "zero_grad": torch.nn.Module.zero_grad,
    "step": torch.optim.SGD.step,
    "optimizer_zero": torch.optim.Optimizer.zero_grad,
    "init": torch.optim.Optimizer.__init__,
    "clip": torch.nn.utils.clip_grad_norm_,
    "iter": torch.utils.data.DataLoader.__iter__,
    "tensor_backward": torch.Tensor.backward,
    "scale": torch.cuda.amp.GradScaler.scale,
    "loss_call": torch.nn.MSELoss.__call__,
    "bound": net.__call__,
    "loader": loader,
}
for name, thing in things.items():
    for way in (pickle.dumps, copy.copy, copy.deepcopy):
        try:
            made = way(thing)
            back = pickle.loads(made) if isinstance(made, bytes) else made
            print(name, way.__name__, type(back).__name__, back is thing)
        except Exception as error:
            print(name, way.__name__, type(error).__name__, error)
