"""Collections of XGBoost's numbers."""

from __future__ import annotations

from typing import Optional

from ..core.collection import DEFAULT_XGBOOST_COLLECTIONS, Collection, CollectionKeys
from ..core.collection_manager import CollectionManager as BaseCollectionManager

__all__ = ["Collection", "CollectionKeys", "CollectionManager"]

# smdebug's, but for the contributions: its pattern left out every feature whose name ends in one of b, i, a and s.
_PATTERNS = {
    CollectionKeys.HYPERPARAMETERS: "^hyperparameters/.*$",
    CollectionKeys.METRICS: "^[a-zA-z]+-[a-zA-z0-9]+$",
    CollectionKeys.LOSSES: "^[a-zA-z]+-.+(?<!(auc|map))$",
    CollectionKeys.PREDICTIONS: "^predictions$",
    CollectionKeys.LABELS: "^labels$",
    CollectionKeys.FEATURE_IMPORTANCE: "^feature_importance/.*",
    CollectionKeys.AVERAGE_SHAP: "^average_shap/(?!bias$)",
    CollectionKeys.FULL_SHAP: "^full_shap/(?!bias$)",
    CollectionKeys.TREES: "^trees/.*",
}


class CollectionManager(BaseCollectionManager):
    """The collections of a hook, the built-in ones among them."""

    def __init__(self, collections: Optional[dict[str, Collection]] = None, create_default: bool = True) -> None:
        super().__init__(collections, create_default)
        if create_default:
            for name in sorted(DEFAULT_XGBOOST_COLLECTIONS):
                self.create_collection(name)
            for name, pattern in _PATTERNS.items():
                self.get(name).include(pattern)
