"""Keras 3: what this process trains, evaluates and predicts becomes a run.

`trainwarden run -- python train.py` does all of it for a program as it is. In a process that runs already, a notebook:

    import trainwarden.keras as twk

    twk.attach()
    model.fit(...)
    twk.detach()
"""

from .attach import attach, detach

__all__ = ["attach", "detach"]
