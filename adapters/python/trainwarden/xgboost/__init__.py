"""XGBoost: each training of this process becomes a run.

`trainwarden run -- python train.py` does all of it for a program as it is. In a process that runs already, a notebook:

    import trainwarden.xgboost as twx

    twx.attach()
    xgboost.train(...)      # or XGBClassifier().fit(...)
    twx.detach()
"""

from .attach import attach, detach

__all__ = ["attach", "detach"]
