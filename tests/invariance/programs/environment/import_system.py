"""The import system: hooks, finders by type, reload of modules, find_spec and loaders of torch and of one's own."""
import importlib
import importlib.util
import sys
import seen

net = seen.small_net()
seen.train(net, 10)
for name in ("torch", "torch.utils.tensorboard", "argparse", "json", "seen", "nowhere", "wandb", "jax", "keras"):
    try:
        spec = importlib.util.find_spec(name)
    except Exception as error:
        print(name, type(error).__name__)
        continue
    print(name, spec and type(spec.loader).__name__, spec and spec.origin and spec.origin.split("/")[-1])
torch = sys.modules["torch"]
print(importlib.reload(seen) is seen, type(torch.__loader__).__name__, torch.__spec__.name)
try:
    import no_such_module
except ImportError as error:
    print(error, error.name, error.path)
