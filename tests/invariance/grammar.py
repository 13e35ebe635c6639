"""Grammar: the parts that generated programs are put together from, each a piece of Python.

In every list the simplest part comes first: shrinking goes there. A program has one part of each list, and some
observers. Names that parts may use: x (a batch of 8 x 4), y (what the model computes of it, 8 x 4), net, optimizer, loss,
number (of the step), notes (a dict of what was observed, printed at the end).
"""

from __future__ import annotations

from typing import NamedTuple


class Container(NamedTuple):
    """What a tensor t is put into, and how it is taken out of it, c, again."""

    name: str
    put: str
    take: str
    define: str = ""


_COUNTING = """
class Counting(list):
    def __iter__(self):
        notes["iterated"] = notes.get("iterated", 0) + 1
        random.random()
        return super().__iter__()
"""
_LAZY = """
class Lazy(collections.abc.Mapping):
    def __init__(self, t):
        self.t = t

    def __len__(self):
        return 5

    def __iter__(self):
        return iter(["t", "a", "b", "loss", "labels"])

    def __getitem__(self, key):
        notes["loads"] = notes.get("loads", 0) + 1
        return self.t if key == "t" else torch.rand(2)
"""
_BATCH = """
@dataclasses.dataclass
class Batch:
    t: torch.Tensor
    size: int = 8
"""
_LAZY_BATCH = """
@dataclasses.dataclass
class LazyBatch:
    t: torch.Tensor
    image: object = dataclasses.field(init=False)

    def __getattr__(self, name):
        notes.setdefault("fetched", []).append(name)
        if name == "image":
            return torch.rand(2)
        raise AttributeError(name)
"""
_NAMED = """
class Named(collections.namedtuple("Named", "t more")):
    def __iter__(self):
        notes["walked"] = notes.get("walked", 0) + 1
        return super().__iter__()
"""
_HOLDER = """
class Holder:
    __slots__ = ("t", "never")

    def __init__(self, t):
        self.t = t

    def __getattr__(self, name):
        notes.setdefault("asked", []).append(name)
        raise AttributeError(name)
"""
_HOSTILE = """
class Hostile:
    def __eq__(self, other):
        raise RuntimeError("== was asked")

    def __bool__(self):
        raise RuntimeError("truth was asked")

    def __len__(self):
        raise RuntimeError("len was asked")

    def __iter__(self):
        raise RuntimeError("iter was asked")

    __hash__ = None
"""
_PROXY = """
class Proxy:
    def __init__(self, t):
        object.__setattr__(self, "inner", t)

    @property
    def __class__(self):
        notes["class"] = notes.get("class", 0) + 1
        return torch.Tensor

    def __getattr__(self, name):
        notes["read"] = notes.get("read", 0) + 1
        return getattr(object.__getattribute__(self, "inner"), name)
"""
_OUTPUT = """
class Output(collections.OrderedDict):
    def get(self, key, default=None):
        notes["got"] = notes.get("got", 0) + 1
        return super().get(key, default)

    def values(self):
        notes["valued"] = notes.get("valued", 0) + 1
        return super().values()
"""
_RING = """
def ring(t):
    made = {"t": t}
    made["self"] = [made, made]
    return made
"""
_SHARED = """
def shared(t):
    made = [t]
    for _ in range(4):
        made = [made] * 8
    return made
"""
_LOGGED = """
class Logged(torch.Tensor):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        name = getattr(func, "__name__", str(func))
        notes[name] = notes.get(name, 0) + 1
        return super().__torch_function__(func, types, args, kwargs)
"""
_BIG = "big = [float(each) for each in range(20_000)]\n"

CONTAINERS = [
    Container("tensor", "t", "c"),
    Container("tuple", "(t, 1, None)", "c[0]"),
    Container("list", "[t, [t, {'a': t}]]", "c[0]"),
    Container("dict", "{'t': t, 'n': 3, 'text': 'abc'}", "c['t']"),
    Container("nested", "{'a': [({'b': t},)]}", "c['a'][0][0]['b']"),
    Container("dataclass", "Batch(t)", "c.t", _BATCH),
    Container("lazy_dataclass", "LazyBatch(t)", "c.t", _LAZY_BATCH),
    Container("counting_list", "Counting([t, t])", "c[0]", _COUNTING),
    Container("lazy_mapping", "Lazy(t)", "c.t", _LAZY),
    Container("named_tuple", "Named(t, None)", "c.t", _NAMED),
    Container("holder", "Holder(t)", "c.t", _HOLDER),
    Container("beside_hostile", "[t, Hostile(), (Hostile(),)]", "c[0]", _HOSTILE),
    Container("proxy", "(t, Proxy(t))", "c[0]", _PROXY),
    Container("output", "Output(t=t, loss=t)", "c['t']", _OUTPUT),
    Container("ring", "ring(t)", "c['t']", _RING),
    Container("shared", "[t, shared(t)]", "c[0]", _SHARED),
    Container("generator", "(each for each in [t])", "next(c)"),
    Container("user_dict", "collections.UserDict(t=t)", "c.data['t']"),
    Container("deque", "collections.deque([t], 2)", "c[0]"),
    Container("subclass", "t.as_subclass(Logged)", "c", _LOGGED),
    Container("big_list", "[t, big]", "c[0]", _BIG),
]


class Body(NamedTuple):
    """What a model is made of, in __init__, and what it makes of x, as an expression."""

    name: str
    init: str
    compute: str
    define: str = ""


_NO_HASH = """
class NoHash(torch.nn.Linear):
    def __eq__(self, other):
        notes["compared"] = notes.get("compared", 0) + 1
        return isinstance(other, NoHash)
"""
_ASKED = """
class Asked(torch.nn.Linear):
    def __getattr__(self, name):
        if name not in ("weight", "bias"):
            notes.setdefault("asked of a module", []).append(name)
        return super().__getattr__(name)

    @property
    def noise(self):
        return torch.rand(1)
"""
_DOUBLE = """
class Double(torch.autograd.Function):
    @staticmethod
    def forward(ctx, t):
        notes["doubled"] = notes.get("doubled", 0) + 1
        return t * 2

    @staticmethod
    def backward(ctx, gradient):
        return gradient * 2
"""
_NEST = """
class Nest(torch.nn.Module):
    def __init__(self, depth):
        super().__init__()
        self.inner = Nest(depth - 1) if depth else torch.nn.Linear(4, 4)

    def forward(self, t):
        return self.inner(t) + 0.1
"""
_WALKED = """
class Walked(torch.nn.Linear):
    def named_parameters(self, *args, **kwargs):
        notes["walks"] = notes.get("walks", 0) + 1
        return super().named_parameters(*args, **kwargs)

    def state_dict(self, *args, **kwargs):
        notes["states"] = notes.get("states", 0) + 1
        return super().state_dict(*args, **kwargs)
"""
_LINEAR = "self.a = torch.nn.Linear(4, 4)"

BODIES = [
    Body("linear", _LINEAR, "self.a(x)"),
    Body("mlp", "self.a = torch.nn.Sequential(torch.nn.Linear(4, 9), torch.nn.GELU(), torch.nn.Linear(9, 4))", "self.a(x)"),
    Body("norm", "self.a = torch.nn.Sequential(torch.nn.BatchNorm1d(4), torch.nn.Dropout(0.2), torch.nn.Linear(4, 4))", "self.a(x)"),
    Body("convolution", "self.a = torch.nn.Conv1d(1, 1, 3, padding=1)", "self.a(x[:, None])[:, 0]"),
    Body("cells", "self.a = torch.nn.GRUCell(4, 4)", "[h := self.a(x * i, h if i else None) for i in range(5)][-1]"),
    Body("lstm", "self.a = torch.nn.LSTM(4, 4, batch_first=True)", "self.a(x[:, None])[0][:, 0]"),
    Body("attention", "self.a = torch.nn.MultiheadAttention(4, 2, batch_first=True)", "self.a(x[None], x[None], x[None])[0][0]"),
    Body("embedding", "self.a = torch.nn.Embedding(16, 4)", "self.a(x[:, 0].abs().mul(8).long().clamp(0, 15)) + x"),
    Body("tied", "self.a, self.b = (torch.nn.Linear(4, 4),) * 2", "self.b(torch.tanh(self.a(x)))"),
    Body("matrix", "self.w = torch.nn.Parameter(torch.randn(4, 4))", "x @ self.w"),
    Body("spectral", "self.a = torch.nn.utils.spectral_norm(torch.nn.Linear(4, 4))", "self.a(x)"),
    Body("many", "self.a = torch.nn.ModuleList(torch.nn.Linear(4, 4) for _ in range(40))", "sum(each(x) for each in self.a) / 40"),
    Body("nested", "self.a = Nest(60)", "self.a(x)", _NEST),
    Body("made", _LINEAR, "torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.ReLU())(self.a(x))"),
    Body("in_place", _LINEAR, "self.a(x).mul_(2).add_(1)"),
    Body("checkpoint", _LINEAR, "torch.utils.checkpoint.checkpoint(self.a, x.detach().requires_grad_())"),
    Body("function", _LINEAR, "Double.apply(self.a(x))", _DOUBLE),
    Body("no_hash", "self.a = torch.nn.ModuleDict({'b': torch.nn.Linear(4, 4)})", "self.a['b'](x)", _NO_HASH),
    Body("asked", "self.a = Asked(4, 4)", "self.a(x)", _ASKED),
    Body("walked", "self.a = Walked(4, 4)", "self.a(x)", _WALKED),
    Body("by_forward", _LINEAR, "self.a.forward(x)"),
]

CALLS = {
    "plain": "net(given)",
    "by_name": "net(given=given)",
    "forward": "net.forward(given)",
    "after_evaluation": "(net.eval(), torch.no_grad()(net)(put(x)), net.train(), net(given))[3]",
    "twice": "(net(put(x)), net(given))[1]",
    "inference_first": "(torch.inference_mode()(net)(put(x.clone())), net(given))[1]",
}

LOSSES = {
    "square": "y.pow(2).mean()",
    "mse": "torch.nn.functional.mse_loss(y, x)",
    "mse_module": "torch.nn.MSELoss()(y, x)",
    "cross_entropy": "torch.nn.functional.cross_entropy(y, torch.randint(4, (8,)))",
    "two": "torch.nn.functional.l1_loss(y, x) + 0.1 * torch.nn.functional.smooth_l1_loss(y, x * 2)",
    "logits": "torch.nn.BCEWithLogitsLoss()(y, torch.ones_like(y))",
    "divergence": "torch.nn.functional.kl_div(y.log_softmax(1), x.softmax(1), reduction='batchmean')",
    "penalty": "y.mean() + torch.autograd.grad(y.pow(2).sum(), y, create_graph=True)[0].norm()",
    "scaled": "torch.nn.functional.mse_loss(y, x) / 4 * 2",
    "sum": "torch.nn.functional.mse_loss(y, x, reduction='sum')",
    "nan_at_times": "y.pow(2).mean() * (float('nan') if number % 7 == 5 else 1.0)",
}


class Optimizing(NamedTuple):
    """How an optimizer is made, and what a step of it is."""

    name: str
    make: str
    step: str = "closure(); optimizer.step()"
    define: str = ""
    rhythm: int = 1  # so many backward passes go into one step


_OWN = """
class Own(torch.optim.Optimizer):
    def __init__(self, parameters):
        super().__init__(parameters, {"lr": 0.05})

    @torch.no_grad()
    def step(self, closure=None):
        with torch.enable_grad():
            loss = closure() if closure is not None else None
        for group in self.param_groups:
            for each in group["params"]:
                if each.grad is not None:
                    each.add_(each.grad, alpha=-group["lr"])
        return loss
"""
_EQUAL = """
class Equal(torch.optim.SGD):
    def __eq__(self, other):
        return isinstance(other, Equal)
"""
_PLAIN = """
class Plain:
    def __init__(self, parameters):
        self.parameters = list(parameters)

    def zero_grad(self):
        for each in self.parameters:
            each.grad = None

    def step(self):
        with torch.no_grad():
            for each in self.parameters:
                if each.grad is not None:
                    each -= 0.05 * each.grad
"""
_PAIR = """
class Pair:
    def __init__(self, parameters):
        parameters = list(parameters)
        self.both = [torch.optim.SGD(parameters[::2], 0.05)]
        if parameters[1::2]:
            self.both.append(torch.optim.Adam(parameters[1::2], 0.01))

    def zero_grad(self):
        for each in self.both:
            each.zero_grad()

    def step(self):
        for each in self.both:
            each.step()
"""

OPTIMIZERS = [
    Optimizing("sgd", "torch.optim.SGD(net.parameters(), 0.05)"),
    Optimizing("momentum", "torch.optim.SGD(net.parameters(), 0.02, momentum=0.9, weight_decay=1e-4)"),
    Optimizing("adam", "torch.optim.Adam(net.parameters(), 0.01)"),
    Optimizing("groups", "torch.optim.AdamW([{'params': [p], 'lr': 0.01, 'own': [1]} for p in net.parameters()])"),
    Optimizing("with_closure", "torch.optim.RMSprop(net.parameters(), 0.01)", "optimizer.step(closure)"),
    Optimizing("lbfgs", "torch.optim.LBFGS(net.parameters(), 0.1, max_iter=4)", "optimizer.step(closure)"),
    Optimizing("own", "Own(net.parameters())", define=_OWN),
    Optimizing("own_closure", "Own(net.parameters())", "optimizer.step(closure)", _OWN),
    Optimizing("equal", "Equal(net.parameters(), 0.05)", define=_EQUAL),
    Optimizing("plain", "Plain(net.parameters())", define=_PLAIN),
    Optimizing("pair", "Pair(net.parameters())", define=_PAIR),
    Optimizing("clipped", "torch.optim.SGD(net.parameters(), 0.05)",
               "closure(); torch.nn.utils.clip_grad_norm_(net.parameters(), 0.5); optimizer.step()"),
    Optimizing("accumulated", "torch.optim.SGD(net.parameters(), 0.05)",
               "closure(); number % 3 == 2 and optimizer.step()", rhythm=3),
    Optimizing("scheduled", "torch.optim.SGD(net.parameters(), 0.1)",
               "closure(); optimizer.step(); optimizer.param_groups[0].update(lr=0.1 * 0.97 ** number)"),
]  # fmt: skip

# Where the training stands: {body} is its code, which defines net and runs all steps.
PLACES = {
    "module": "{body}",
    "function": """
def main(rate=0.1, name="training"):
    config = locals()
{body}
    notes["config"] = sorted(config), config.get("rate")
    return net


net = main()
""",
    "method": """
class Trainer:
    def __getattr__(self, name):
        notes.setdefault("asked of the trainer", []).append(name)
        raise AttributeError(name)

    def run(self):
{body}
        self.net = net
        return net


net = Trainer().run()
""",
    "thread": """
def main():
    global net
{body}


thread = threading.Thread(target=main)
thread.start()
thread.join()
""",
    "generator": """
def steps():
    global net
    mine = 5
{body}


running = steps()
view = None
for _ in running:
    view = view or running.gi_frame.f_locals
notes["view"] = view and view.get("mine")
""",
    "coroutine": """
async def main():
    global net
    mine = locals()
{body}
    notes["mine"] = sorted(mine)


asyncio.run(main())
""",
    "deep": """
def descend(depth):
    global net
    if depth > 0:
        return descend(depth - 1)
{body}


descend(700)
""",
    "three": """
def main(fold):
    global net
    kept = vars()
{body}
    notes.setdefault("folds", []).append((seen.digest(net), kept["fold"]))


for fold in range(3):
    main(fold)
""",
    "forked": """
def main():
    global net
{body}


child = os.fork()
if child == 0:
    try:
        main()
    except Exception as error:  # lines of two tracebacks would mix
        print("child", error, flush=True)
        os._exit(1)
    print("child", seen.digest(net), flush=True)
    os._exit(7)
main()
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
""",
}

# What a step's batch comes from: the head of the loop over the steps, and its first line.
SOURCES = {
    "range": ("for number in range({steps}):", "x = torch.randn(8, 4)"),
    "loader": (
        "for number, x in enumerate(torch.utils.data.DataLoader(torch.randn({steps} * 8, 4), 8, shuffle=True)):", "pass"
    ),
    "dict_loader": (
        "for number, batch in enumerate(torch.utils.data.DataLoader([{{'x': torch.randn(4)}} for _ in range({steps} * 8)], 8)):",
        "x = batch['x']",
    ),
    "queue": ("for number in collections.deque(range({steps})):", "x = torch.full((8, 4), 0.1 * (number % 5))"),
}

ENDS = {
    "prints": "",
    "exit_code": "sys.exit(5)",
    "exit_three": "sys.exit(3)",
    "raises": "raise LookupError('the end')",
    "os_exit": "sys.stdout.flush()\nos._exit(6)",
    "kill": "sys.stdout.flush()\nos.kill(os.getpid(), 9)",
    "term": "sys.stdout.flush()\nos.kill(os.getpid(), 15)",
    "at_exit": "atexit.register(lambda: print('at exit', seen.digest(net)))",
    "dropped": "kept = weakref.ref(net)\ndel net\ngc.collect()\nprint('dropped', kept() is None)",
    "daemon": "threading.Thread(target=threading.Event().wait, daemon=True).start()",
    "evaluated": "net.eval()\nwith torch.no_grad():\n    print('%.5f' % take(net(put(torch.ones(8, 4)))).sum().item())",
    "saved": "torch.save(net.state_dict(), 'end.pt')\nnet.load_state_dict(torch.load('end.pt'))",
}
