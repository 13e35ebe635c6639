"""ImageStrip: kernels or activations as images, a row for each and a column for each step."""

from __future__ import annotations

import bisect
from collections.abc import Iterable
from typing import Any

import numpy as np

from ..arrays import Array
from ..errors import InvalidArgument, OutOfRange
from ..options import Mode
from ..trial import ModeLike
from .colours import gray_colours, magnitude_colours, signed_colours
from .displayed import Displayed
from .drawing import CHARACTER, FAINT, Drawing, readable
from .sources import trial_of
from .terminal import number

_MOST_ROWS, _MOST_COLUMNS = 64, 32
_TOP, _GAP, _LARGE = 62.0, 6.0, 64
_SCALES = ("shared", "strip", "image")
_COLOURS = ("auto", "gray", "signed", "magnitude")
_MOST_MOVED = 4


class ImageStrip(Displayed):
    """How images change over steps.

        ImageStrip(trial, "conv0_weight")                 # a row a kernel, a column a step
        ImageStrip(trial, "conv0_output_0", rows=[0])     # the first element of the batch

    Arguments:
        over: what the columns are; "step" is what there is.
        rows: which elements of the first axis; None: all, at most 64.
        channel: which element of the second axis, of tensors with four.
        steps: of `mode`; None: all at which the tensor was kept whole, at most 32 of them evenly. Of others the nearest
            that has it is shown, and said.
        scale: "shared": one scale for all, so that steps and rows can be compared; "strip": one for each row; "image":
            one for each image. It is printed.
        colours: "gray", "signed" (zero is white), "magnitude", "auto": signed when a number is negative.
    """

    def __init__(
        self,
        trial: Any,
        name: str,
        over: str = "step",
        *,
        rows: Iterable[int] | None = None,
        channel: int = 0,
        steps: Iterable[int] | None = None,
        mode: ModeLike = Mode.GLOBAL,
        scale: str = "shared",
        colours: str = "auto",
    ):
        _one_of("over", over, ("step",))
        _one_of("scale", scale, _SCALES)
        _one_of("colours", colours, _COLOURS)
        self._trial = trial_of(trial)
        self.name, self.channel, self.mode = name, int(channel), Mode(mode)
        self.scale, self.colours = scale, colours
        self._wanted_rows = None if rows is None else [int(row) for row in rows]
        self._wanted_steps = None if steps is None else [int(step) for step in steps]
        self._read()

    def refresh(self) -> None:
        """Takes in what was written since, and draws anew where it is shown."""
        self._trial.refresh()
        self._read()
        self._changed()

    def data(self) -> dict[str, Any]:
        """What is shown: images [rows, steps, height, width] as they were captured, rows, steps."""
        return {"images": self._images, "rows": self.rows, "steps": self.steps}

    def _read(self) -> None:
        handle = self._trial.tensor(self.name)
        there = handle.steps(self.mode, kept="value")
        if not there:
            raise OutOfRange(f"{self.name!r} was kept whole at no step of mode {self.mode.value}")
        asked = there if self._wanted_steps is None else self._wanted_steps
        shown = {step: nearest(there, step) for step in asked}
        wanted = list(dict.fromkeys(shown.values()))
        self.steps = _evenly(wanted, _MOST_COLUMNS)
        if not self.steps:
            raise OutOfRange(f"expected a step of {self.name!r} at least, got none")
        volumes = [self._volume(handle.value(step, self.mode)) for step in self.steps]
        rows = list(range(min(len(volume) for volume in volumes))) if self._wanted_rows is None else self._wanted_rows
        for row in rows:
            if not 0 <= row < min(len(volume) for volume in volumes):
                raise OutOfRange(f"expected rows from 0 to {len(volumes[0]) - 1} of {self.name!r}, got {row}")
        self.rows = rows[:_MOST_ROWS]
        shapes = sorted({volume.shape[1:] for volume in volumes})
        if len(shapes) > 1:
            raise InvalidArgument(f"expected images of one size, {self.name!r} has {shapes}: choose its steps")
        self._images: Array = np.stack([[volume[row] for volume in volumes] for row in self.rows])
        parts = [(len(self.rows), len(rows), "rows"), (len(self.steps), len(wanted), "steps")]
        self._left_out = [f"{part} of {count} {what}" for part, count, what in parts if part < count]
        self._left_out += _moved(shown)

    def _volume(self, value: Array) -> Array:
        """[images, height, width]."""
        if value.ndim == 2:
            return value[np.newaxis]
        if value.ndim == 3:
            return value
        if value.ndim == 4:
            if not 0 <= self.channel < value.shape[1]:
                raise OutOfRange(f"expected a channel from 0 to {value.shape[1] - 1}, got {self.channel}")
            return value[:, self.channel]
        raise InvalidArgument(f"expected a tensor of 2 to 4 axes, {self.name!r} has the shape {value.shape}")

    def _range(self, images: Array) -> tuple[float, float]:
        finite = images[np.isfinite(images)]
        if not finite.size:
            return 0.0, 0.0
        low, high = float(finite.min()), float(finite.max())
        if self._signed():
            high = max(-low, high)
            low = -high
        return low, high

    def _signed(self) -> bool:
        if self.colours == "auto":
            return bool((self._images[np.isfinite(self._images)] < 0).any())
        return self.colours == "signed"

    def _coloured(self, image: Array, low: float, high: float) -> Array:
        if self._signed():
            return signed_colours(image, high)
        return (gray_colours if self.colours == "gray" else magnitude_colours)(image, low, high)

    def svg(self) -> str:
        height, width = self._images.shape[2:]
        zoom = max(_LARGE / max(height, width), 1.0)
        across, down = width * zoom + _GAP, height * zoom + _GAP
        labels = 60.0
        right = labels + max(across, CHARACTER * 7) * len(self.steps)
        whole = right + (CHARACTER * 24 if self.scale == "strip" else 16)
        drawing = Drawing(
            max(whole, 640.0), _TOP + down * len(self.rows) + 30, f"{self.name} over steps", self._summary()
        )
        title = f"{readable(self.name, 60)}: a row an element, a column a step"
        drawing.text(16, 16, title, limit=120, font_weight="bold")
        shared = self._range(self._images)
        for column, step in enumerate(self.steps):
            x = labels + max(across, CHARACTER * 7) * column
            drawing.text(x, _TOP - 14, str(step), fill=FAINT)
            for index, row in enumerate(self.rows):
                image = self._images[index, column]
                alone = image if self.scale == "image" else self._images[index]
                span = shared if self.scale == "shared" else self._range(alone)
                note = f"row {row}, step {step}"
                place = (x, _TOP + down * index, width * zoom, height * zoom)
                drawing.pixels(*place, self._coloured(image, *span), note=note)
        self._margin(drawing, down, right)
        drawing.text(16, drawing.height - 14, self._notes(), limit=120, fill=FAINT)
        return drawing.document()

    def _margin(self, drawing: Drawing, down: float, right: float) -> None:
        for index, row in enumerate(self.rows):
            y = _TOP + down * (index + 0.5) - _GAP / 2
            drawing.text(50, y, str(row), text_anchor="end", fill=FAINT)
            if self.scale == "strip":
                drawing.text(right + 8, y, _span(*self._range(self._images[index])), fill=FAINT)

    def _notes(self) -> str:
        words = {
            "shared": "one scale: " + _span(*self._range(self._images)),
            "strip": "each row has a scale of its own",
            "image": "each image has a scale of its own: do not compare them",
        }[self.scale]
        names = "blue -, white 0, orange +" if self._signed() else "dark low, light high"
        wrong = int((~np.isfinite(self._images)).sum())
        notes = [words, names, *self._left_out] + ([f"{wrong} numbers are not finite"] if wrong else [])
        return "; ".join(notes)

    def _summary(self) -> str:
        rows, steps, height, width = self._images.shape
        return f"{rows} images of {height} x {width} at {steps} steps. {self._notes()}"

    def text(self) -> str:
        label = max(len(str(row)) for row in self.rows)
        lines = [f"{readable(self.name, 60)} at steps {', '.join(str(step) for step in self.steps)}"]
        for index, row in enumerate(self.rows):
            changes = [_spread(self._images[index, column]) for column in range(len(self.steps))]
            lines.append(f"{row:>{label}} " + " ".join(f"{number(each):>9}" for each in changes))
        return "\n".join([*lines, "each number: the root of the image's mean square; " + self._notes()])


def _spread(image: Array) -> float:
    return float(np.sqrt(np.mean(np.square(image.astype(np.float64)))))


def _span(low: float, high: float) -> str:
    return f"{number(low)} to {number(high)}"


def _evenly(steps: list[int], most: int) -> list[int]:
    """The first, the last, and evenly between."""
    if len(steps) <= most:
        return list(steps)
    return [steps[round(index * (len(steps) - 1) / (most - 1))] for index in range(most)]


def nearest(steps: list[int], step: int) -> int:
    """Of rising steps, at least one; of two the earlier."""
    at = bisect.bisect_left(steps, step)
    around = steps[max(at - 1, 0) : at + 1]
    return min(around, key=lambda each: (abs(each - step), each))


def _moved(shown: dict[int, int]) -> list[str]:
    """Which steps stand for others."""
    moved = [f"{there} for {step}" for step, there in shown.items() if there != step]
    if not moved:
        return []
    more = "" if len(moved) <= _MOST_MOVED else f" and {len(moved) - _MOST_MOVED} more"
    return [f"the nearest steps that have it whole: {', '.join(moved[:_MOST_MOVED])}{more}"]


def _one_of(name: str, value: str, choices: tuple[str, ...]) -> None:
    if value not in choices:
        raise InvalidArgument(f"expected {name} to be {' or '.join(map(repr, choices))}, got {value!r}")
