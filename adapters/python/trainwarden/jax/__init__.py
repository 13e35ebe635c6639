"""JAX: a training of this process becomes a run, whether it is written by hand or with optax, flax or equinox.

`trainwarden run -- python train.py` does all of it for a program as it is. In a process that runs already, a notebook:

    import trainwarden.jax as twj

    twj.attach()            # before the program's functions are given to jax.jit
    train()
    twj.detach()
"""

from .attach import attach, detach

__all__ = ["attach", "detach"]
