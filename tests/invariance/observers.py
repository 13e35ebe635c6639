"""Observers: what generated programs look at, each a few pieces of Python at places of a program."""

from __future__ import annotations

from typing import NamedTuple


class Observer(NamedTuple):
    """`before` the training, in `forward()`, in `each` step when it is over, and `after` the training.

    `around` is what stands behind `with` around each step.
    """

    name: str
    before: str = ""
    forward: str = ""
    each: str = ""
    after: str = ""
    around: str = ""


_COUNT_MODE = """
class Count(torch.utils._python_dispatch.TorchDispatchMode):
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        notes["operators"] = notes.get("operators", 0) + 1
        return func(*args, **(kwargs or {}))
"""
_FUNCTION_MODE = """
class Log(torch.overrides.TorchFunctionMode):
    def __torch_function__(self, func, types, args=(), kwargs=None):
        notes["functions"] = notes.get("functions", 0) + 1
        return func(*args, **(kwargs or {}))
"""
_PACK = """
def pack(t):
    notes["packed"] = notes.get("packed", 0) + 1
    return t
"""
_TRACE = """
def tracer(frame, event, arg):
    if frame.f_code.co_filename != __file__:
        return None
    notes[event] = notes.get(event, 0) + 1
    return tracer


sys.settrace(tracer)
"""
_TEE = """
class Tee:
    def __init__(self, inner):
        self.inner = inner

    def write(self, text):
        notes["written"] = notes.get("written", 0) + 1
        return self.inner.write(text)

    def flush(self):
        self.inner.flush()


sys.stdout = Tee(sys.stdout)
"""
_GLOBAL_HOOK = """
def global_hook(module, args, output):
    notes["hooked"] = notes.get("hooked", 0) + 1


torch.nn.modules.module.register_module_forward_hook(global_hook)
"""
_CAUGHT = """
if number % 6 == 4:
    try:
        net(None)
    except Exception as error:
        entries, entry = 0, error.__traceback__
        while entry is not None:
            entries, entry = entries + 1, entry.tb_next
        notes.setdefault("caught", set()).add((type(error).__name__, entries))
"""
_OPENED = """
with open("own.txt", "w") as file:
    notes.setdefault("descriptors", set()).add(file.fileno())
"""
_PICKLES = """
for thing in (net, type(net), loss_of):
    try:
        notes.setdefault("pickled", []).append(type(pickle.loads(pickle.dumps(thing))).__name__)
    except Exception as error:
        notes.setdefault("pickled", []).append(type(error).__name__)
"""
_SAVED = """
buffer = io.BytesIO()
torch.save(net.state_dict(), buffer)
notes["saved"] = hashlib.sha256(buffer.getvalue()).hexdigest()[:12]
"""
_OBJECTS = """
gc.collect()
kinds = (torch.nn.Module, torch.optim.Optimizer)
notes["objects"] = sorted(type(each).__name__ for each in gc.get_objects() if isinstance(each, kinds))
"""
_ATTRIBUTES = """
notes["vars"] = [sorted(vars(each)) for each in net.modules()][:3], sorted(vars(type(net)))
notes["kinds"] = sorted({type(value).__name__ for value in vars(type(net)).values()})
notes["hooks"] = [len(each._forward_hooks) + len(each._backward_hooks) for each in net.modules()][:3]
"""
_REFERENCES = "notes.setdefault('references', set()).add(tuple(map(sys.getrefcount, (x, y, loss, output))))"
_ALIVE = "alive.extend(weakref.ref(each) for each in (x, y, loss))"

OBSERVERS = [
    Observer("random", after="notes['random'] = seen.random_states()"),
    Observer("threads", each="notes.setdefault('threads', set()).add(threading.active_count())"),
    Observer("descriptors", each=_OPENED),
    Observer("depth", forward="notes.setdefault('depths', set()).add(len(inspect.stack(0)))"),
    Observer("alive", "alive = []", each=_ALIVE,
             after="gc.collect()\nnotes['alive'] = sum(e() is not None for e in alive)"),
    Observer("alive_without_gc", "alive = []\ngc.disable()", each=_ALIVE,
             after="notes['alive'] = sum(e() is not None for e in alive)"),
    Observer("references", each=_REFERENCES),
    Observer("objects", after=_OBJECTS),
    Observer("warnings", each="notes.setdefault('warned', set()).update((str(e.message)[:40], e.lineno) for e in caught)",
             around="warnings.catch_warnings(record=True) as caught",
             after="notes['filters'] = [each[0] for each in warnings.filters]"),
    Observer("warnings_are_errors", "warnings.simplefilter('error')"),
    Observer("operators", _COUNT_MODE, around="Count()"),
    Observer("functions", _FUNCTION_MODE, around="Log()"),
    Observer("saved_tensors", _PACK, around="torch.autograd.graph.saved_tensors_hooks(pack, pack)"),
    Observer("anomaly", around="torch.autograd.set_detect_anomaly(True)"),
    Observer("attributes", after=_ATTRIBUTES),
    Observer("pickles", after=_PICKLES),
    Observer("copied", each="copy.deepcopy(net) if number == 5 else None"),
    Observer("saved", after=_SAVED),
    Observer("traced", _TRACE, after="notes['tracer'] = sys.gettrace() is tracer\nsys.settrace(None)"),
    Observer("signals", after="notes['signals'] = [str(signal.getsignal(n)) for n in (2, 6, 11, 15)]"),
    Observer("tee", _TEE, each="print('step', number)"),
    Observer("printed", each="print(number, 'val loss: %.5f' % loss.item())"),
    Observer("global_hook", _GLOBAL_HOOK),
    Observer("hook_on_output", each="notes.setdefault('hooks of outputs', set()).add(str(output._backward_hooks)"
             " if type(output) is torch.Tensor else '')"),
    Observer("metadata", each="notes.setdefault('metadata', set()).update(map(str, loss.grad_fn.metadata))"),
    Observer("caught", each=_CAUGHT),
    Observer("modes", each="notes.setdefault('modes', set()).add((torch.is_grad_enabled(), torch.get_default_dtype(),"
             " torch.autograd._profiler_enabled()))"),
    Observer("float64", "torch.set_default_dtype(torch.float64)"),
    Observer("threads_of_torch", after="notes['num_threads'] = torch.get_num_threads()"),
]  # fmt: skip
