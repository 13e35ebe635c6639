"""MXNet: what a Gluon program of this process trains becomes a run.

`trainwarden run -- python train.py` does all of it for a program as it is. In a process that runs already, a notebook:

    import trainwarden.mxnet as twm

    twm.attach()
    ...                     # autograd.record(), backward(), trainer.step()
    twm.detach()
"""

from .attach import attach, detach

__all__ = ["attach", "detach"]
