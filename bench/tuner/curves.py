"""What is said of the searches of many seeds: medians with quartiles, and ratios of medians."""
import numpy as np

RESAMPLES = 2000


def quartiles(values: np.ndarray) -> str:
    low, middle, high = np.quantile(values, (0.25, 0.5, 0.75))
    return f"{middle:.3g} [{low:.3g},{high:.3g}]"


def upper_ratio(ours: np.ndarray, theirs: np.ndarray) -> float:
    """The upper end of the 95 % interval of the ratio of medians, by bootstrap over the seeds, drawn in pairs."""
    picks = np.random.default_rng(1).integers(0, len(ours), (RESAMPLES, len(ours)))
    return float(np.quantile(np.median(ours[picks], axis=1) / np.median(theirs[picks], axis=1), 0.975))
