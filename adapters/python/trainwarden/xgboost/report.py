"""python -m trainwarden.xgboost.report RUN: a page about a run of XGBoost, and its numbers."""

import sys

from ..tree_report.command import main

if __name__ == "__main__":
    sys.exit(main("trainwarden.xgboost.report"))
