"""What the programs here have in common: a digest as the last line, and what they saw themselves."""

import collections
import hashlib
import os

import numpy as np

_seen = collections.defaultdict(list)


def sees(name, tensor):
    """Keeps what the program itself sees, step by step."""
    _seen[name].append(tensor.detach().clone().numpy())


def report(*models):
    """Prints a digest of all parameters and buffers, and saves what was seen where SEEN_FILE says."""
    if os.environ.get("SEEN_FILE"):
        np.savez(os.environ["SEEN_FILE"], **{name: np.stack(values) for name, values in _seen.items()})
    digest = hashlib.sha256()
    for model in models:
        for tensor in model.state_dict().values():
            digest.update(tensor.detach().contiguous().numpy().tobytes())
    print("digest", digest.hexdigest())
