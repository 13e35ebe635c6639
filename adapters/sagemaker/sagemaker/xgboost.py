"""XGBoost: the estimator of scripts of XGBoost."""

from __future__ import annotations

from ._estimator_keywords import XGBOOST
from ._keywords import takes
from .estimator import Framework


@takes(XGBOOST)
class XGBoost(Framework):
    """Trains with a script of XGBoost. With the rule create_xgboost_report() who waits for the job gets its report."""

    keywords = XGBOOST
    _framework = "xgboost"
    _module = "xgboost"
