"""Loops of one process that users write: a row of the table for each of KINDS."""

import copy
import sys
import threading

import torch
from ending import end, say_loss
from tiny import Net, batch
from torch import nn
from torch.nn import functional as F
from torch.utils.checkpoint import checkpoint
from torch.utils.data import DataLoader, Dataset

STEPS = 10
NAMES = ["stem.weight", "gradient/head.weight", "blocks.0.up_output_0"]
KINDS = {}


def row(function):
    KINDS[function.__name__] = function
    return function


def loop(model, optimizer, names=NAMES, forward=None, loss="nll_loss_output_0", after=lambda step: None):
    forward = forward or model
    for step in range(STEPS):
        x, y = batch(step)
        value = F.cross_entropy(forward(x), y)
        optimizer.zero_grad()
        value.backward()
        optimizer.step()
        after(step)
        say_loss(step, value)
    end(STEPS, model, names=names, loss=loss)


def with_optimizer(kind, **settings):
    model = Net()
    loop(model, kind(model.parameters(), **settings))


for name, kind, settings in (
    ("foreach", torch.optim.Adam, {"foreach": True}),
    ("fused", torch.optim.AdamW, {"fused": True}),
    ("sgd", torch.optim.SGD, {"lr": 0.1, "momentum": 0.9, "nesterov": True}),
    ("rmsprop", torch.optim.RMSprop, {"lr": 1e-3, "momentum": 0.5}),
    ("adagrad", torch.optim.Adagrad, {}),
    ("adafactor", torch.optim.Adafactor, {}),
):
    KINDS[name] = lambda kind=kind, settings=settings: with_optimizer(kind, **settings)


@row
def groups():
    model = Net()
    stem, blocks, head = ({"params": each.parameters()} for each in (model.stem, model.blocks, model.head))
    loop(model, torch.optim.Adam([{**stem, "lr": 1e-4}, blocks, {**head, "weight_decay": 0.1}]))


@row
def muon():
    """Matrices in one optimizer, the rest in another."""
    model = Net()
    matrices = [each for each in model.blocks.parameters() if each.ndim == 2]
    others = [each for each in model.parameters() if all(each is not matrix for matrix in matrices)]
    optimizers = [torch.optim.Muon(matrices, lr=1e-2), torch.optim.AdamW(others)]
    for step in range(STEPS):
        x, y = batch(step)
        value = F.cross_entropy(model(x), y)
        value.backward()
        for each in optimizers:
            each.step()
            each.zero_grad()
        say_loss(step, value)
    end(STEPS, model, names=NAMES, loss="nll_loss_output_0")


@row
def lbfgs():
    model = Net()
    optimizer = torch.optim.LBFGS(model.parameters(), max_iter=4)
    for step in range(STEPS):
        x, y = batch(step)

        def closure():
            optimizer.zero_grad()
            value = F.cross_entropy(model(x), y)
            value.backward()
            return value

        say_loss(step, optimizer.step(closure))
    end(STEPS, model, names=NAMES)


@row
def autocast():
    model = Net()
    optimizer, scaler = torch.optim.Adam(model.parameters()), torch.amp.GradScaler("cpu")
    for step in range(STEPS):
        x, y = batch(step)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            value = F.cross_entropy(model(x), y)
        optimizer.zero_grad()
        scaler.scale(value).backward()
        scaler.unscale_(optimizer)
        nn.utils.clip_grad_norm_(model.parameters(), float("inf"))  # B1: the usual way to log the norm
        scaler.step(optimizer)
        scaler.update()
        say_loss(step, value)
    end(STEPS, model, names=NAMES, loss="nll_loss_output_0")


@row
def infinite_limit():
    """B1: to be run with the rules, one of which fired on the limit."""
    model = Net()
    optimizer = torch.optim.Adam(model.parameters())
    for step in range(STEPS):
        x, y = batch(step, size=32)
        value = F.cross_entropy(model(x), y)
        optimizer.zero_grad()
        value.backward()
        nn.utils.clip_grad_norm_(model.parameters(), float("inf"))
        optimizer.step()
        say_loss(step, value)
    end(STEPS, model, names=NAMES, loss="nll_loss_output_0")


def checkpointed(reentrant):
    model = Net()

    def forward(x):
        x = model.stem(x).requires_grad_()
        for block in model.blocks:
            x = checkpoint(block, x, use_reentrant=reentrant)
        return model.head(x)

    loop(model, torch.optim.Adam(model.parameters()), forward=forward)


KINDS["checkpoint_reentrant"] = lambda: checkpointed(True)
KINDS["checkpoint"] = lambda: checkpointed(False)


@row
def checkpoint_wrapper():
    from torch.distributed.algorithms._checkpoint.checkpoint_wrapper import checkpoint_wrapper as wrap

    model = Net()
    model.blocks[0], model.blocks[1] = wrap(model.blocks[0]), wrap(model.blocks[1])
    loop(model, torch.optim.Adam(model.parameters()), names=[*NAMES, "blocks.0_output_0"])


@row
def channels_last():
    model = nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.Flatten(), nn.Linear(288, 4))
    model = model.to(memory_format=torch.channels_last)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for step in range(STEPS):
        x = torch.randn(4, 3, 8, 8).to(memory_format=torch.channels_last)
        value = F.cross_entropy(model(x), torch.randint(0, 4, (4,)))
        optimizer.zero_grad()
        value.backward()
        optimizer.step()
        say_loss(step, value)
    end(STEPS, model, names=["0.weight", "gradient/4.weight", "1.running_mean"], loss="nll_loss_output_0")


@row
def tied():
    model = Net(width=8, classes=8)
    model.head.weight = model.stem.weight
    loop(model, torch.optim.Adam(model.parameters()), names=["stem.weight", "gradient/stem.weight", "head.bias"])


@row
def meta():
    with torch.device("meta"):
        model = Net()
    model.to_empty(device="cpu")
    for parameter in model.parameters():
        nn.init.normal_(parameter, std=0.1)
    loop(model, torch.optim.Adam(model.parameters()))


@row
def swapped():
    """Parameters that are exchanged while it trains."""
    model = Net()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def exchange(step):
        if step == 4:
            model.head.weight = nn.Parameter(model.head.weight.detach() * 0.5)
            optimizer.param_groups[0]["params"] = list(model.parameters())

    loop(model, optimizer, after=exchange)


@row
def gan():
    made, judged = nn.Linear(4, 8), nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 1))
    optimizers = [torch.optim.Adam(each.parameters()) for each in (judged, made)]
    for step in range(STEPS):
        real, noise = torch.randn(4, 8), torch.randn(4, 4)
        one = F.softplus(-judged(real)).mean() + F.softplus(judged(made(noise).detach())).mean()
        optimizers[0].zero_grad()
        one.backward()
        optimizers[0].step()
        other = F.softplus(-judged(made(noise))).mean()
        optimizers[1].zero_grad()
        other.backward()
        optimizers[1].step()
        say_loss(step, one + other)
    end(STEPS, made, judged, names=["made.weight", "gradient/judged.0.weight"])


@row
def averaged():
    model = Net()
    mean = torch.optim.swa_utils.AveragedModel(model, multi_avg_fn=torch.optim.swa_utils.get_ema_multi_avg_fn(0.9))
    loop(model, torch.optim.Adam(model.parameters()), after=lambda step: mean.update_parameters(model))
    with torch.no_grad():
        say_loss("averaged", mean(batch(99)[0]).pow(2).mean())


@row
def in_backward():
    """An optimizer for each parameter, which steps in backward()."""
    model = Net()
    optimizers = {each: torch.optim.SGD([each], lr=0.1) for each in model.parameters()}

    def step_now(parameter):
        optimizers[parameter].step()
        optimizers[parameter].zero_grad()

    for parameter in model.parameters():
        parameter.register_post_accumulate_grad_hook(step_now)
    for step in range(STEPS):
        x, y = batch(step)
        value = F.cross_entropy(model(x), y)
        value.backward()
        say_loss(step, value)
    end(STEPS, model, names=NAMES, loss="nll_loss_output_0")


@row
def inference_mode():
    model = Net()

    def evaluate(step):
        model.eval()
        with torch.inference_mode():
            say_loss("eval", F.cross_entropy(model(batch(99)[0]), batch(99)[1]))
        model.train()

    loop(model, torch.optim.Adam(model.parameters()), after=evaluate)


@row
def thread():
    model = Net()
    optimizer = torch.optim.Adam(model.parameters())
    worker = threading.Thread(target=loop, args=(model, optimizer))
    worker.start()
    worker.join()


@row
def script():
    model = torch.jit.script(Net())
    loop(model, torch.optim.Adam(model.parameters()), names=["stem.weight", "gradient/head.weight"])


@row
def export():
    model = torch.export.export(Net(), (batch(0)[0],)).module()
    loop(model, torch.optim.Adam(model.parameters()), names=["stem.weight", "gradient/head.weight"])


class Data(Dataset):
    def __len__(self):
        return STEPS * 4

    def __getitem__(self, index):
        return torch.full((8,), index / 10.0), index % 4


def with_loader(**settings):
    model = Net()
    optimizer = torch.optim.Adam(model.parameters())
    loader = DataLoader(Data(), batch_size=8, shuffle=True, **settings)
    for epoch in range(2):
        for step, (x, y) in enumerate(loader):
            value = F.cross_entropy(model(x), y)
            optimizer.zero_grad()
            value.backward()
            optimizer.step()
            say_loss(step, value)
    end(STEPS, model, names=NAMES, loss="nll_loss_output_0")


KINDS["loader_fork"] = lambda: with_loader(num_workers=1, multiprocessing_context="fork")
KINDS["loader_spawn"] = lambda: with_loader(num_workers=1, multiprocessing_context="spawn")
KINDS["loader_persistent"] = lambda: with_loader(num_workers=1, persistent_workers=True)


@row
def tried_first():
    """B7: called before it is whole."""

    class Trying(Net):
        def __init__(self):
            super().__init__()
            self.body = nn.utils.parametrizations.spectral_norm(nn.Linear(4, 4))
            self.out = nn.LazyLinear(4)
            self(torch.zeros(1, 8))

        def forward(self, x):
            return self.out(self.body(super().forward(x)))

    model = Trying()
    loop(model, torch.optim.Adam(model.parameters()), names=[*NAMES, "Trying_output_0", "out.weight"])


@row
def accumulated():
    """B9: losses that are divided by the number of micro-batches."""
    model = Net()
    optimizer = torch.optim.Adam(model.parameters())
    for step in range(STEPS):
        for part in range(4):
            x, y = batch(4 * step + part)
            value = F.cross_entropy(model(x), y)
            (value / 4).backward()
            say_loss(step, value)
        optimizer.step()
        optimizer.zero_grad()
    end(STEPS, model, names=NAMES, loss="nll_loss_output_0")


@row
def wgan():
    """Five steps of the critic for one of the generator."""
    made, critic = nn.Linear(4, 8), nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 1))
    first, second = (torch.optim.RMSprop(each.parameters(), lr=1e-3) for each in (critic, made))
    for step in range(20):
        first.zero_grad()
        value = critic(made(torch.randn(4, 4)).detach()).mean() - critic(torch.randn(4, 8)).mean()
        value.backward()
        first.step()
        if step % 5 == 4:
            second.zero_grad()
            (-critic(made(torch.randn(4, 4))).mean()).backward()
            second.step()
        say_loss(step, value)
    end(20, made, critic, names=["made.weight", "gradient/critic.0.weight"])


@row
def sparse():
    """B11: gradients that are sparse."""
    model = nn.Sequential(nn.Embedding(20, 8, sparse=True), nn.Flatten(), nn.Linear(24, 4))
    table, rest = torch.optim.SparseAdam(model[0].parameters()), torch.optim.Adam(model[2].parameters())
    for step in range(STEPS):
        value = F.cross_entropy(model(torch.randint(0, 20, (6, 3))), torch.randint(0, 4, (6,)))
        for each in (table, rest):
            each.zero_grad()
        value.backward()
        for each in (table, rest):
            each.step()
        say_loss(step, value)
    end(STEPS, model, names=["0.weight", "gradient/2.weight"], loss="nll_loss_output_0")


@row
def copied():
    """The model is copied while it trains."""
    model = Net()
    loop(model, torch.optim.Adam(model.parameters()), after=lambda step: copy.deepcopy(model))


if __name__ == "__main__":
    torch.manual_seed(20)
    KINDS[sys.argv[1]]()
