"""SKLearnProcessor: steps that prepare or judge data, with scikit-learn."""

from __future__ import annotations

from .._keywords import takes
from .._processing_keywords import SKLEARN_PROCESSOR
from ..processing import ScriptProcessor


@takes(SKLEARN_PROCESSOR)
class SKLearnProcessor(ScriptProcessor):
    """Runs a script."""

    keywords = SKLEARN_PROCESSOR
