"""A report of a run of boosted trees, XGBoost's or LightGBM's: a page and the same numbers as JSON, at any time.

`numbers_of` (numbers.py) has all that is said, `page_of` (page.py) draws it, `write_report` (files.py) writes both.
"""

from .files import ReportFiles, write_report
from .numbers import numbers_of
from .page import page_of

__all__ = ["ReportFiles", "numbers_of", "page_of", "write_report"]
