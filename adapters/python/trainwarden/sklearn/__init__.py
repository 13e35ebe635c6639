"""scikit-learn: each training of an estimator that trains step by step becomes a run.

`trainwarden run -- python train.py` does all of it for a program as it is. In a process that runs already, a notebook:

    import trainwarden.sklearn as tws

    tws.attach()
    MLPClassifier().fit(features, labels)
    tws.detach()
"""

from .attach import attach, detach

__all__ = ["attach", "detach"]
