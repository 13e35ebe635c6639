"""What the package raises: the exceptions of smdebug, with the arguments that they have there.

A message says what was looked for, and what there is instead as far as it is known (`hint`).
"""

from __future__ import annotations

from .core.modes import ModeKeys


class SMDebugError(Exception):
    """The base of all."""


class SMDebugCustomerError(SMDebugError):
    """The program that uses the package is at fault."""


class SMDebugTypeError(SMDebugError, TypeError):
    """An argument has the wrong type."""


class SMDebugRuntimeError(SMDebugError, RuntimeError):
    """The right call in the wrong state, or data that cannot be read."""


class SMDebugNotImplementedError(SMDebugError, NotImplementedError):
    """The package does not have this; the message says what to do instead."""


class SMDebugValueError(SMDebugError, ValueError):
    """An argument has the wrong value."""


def _with_hint(words: str, hint: str) -> str:
    return f"{words}; {hint}" if hint else words


class InvalidCollectionConfiguration(SMDebugError):
    """A collection is to be saved, and nothing says which tensors it has."""

    def __init__(self, c_name: str):
        super().__init__(c_name)
        self.c_name = c_name

    def __str__(self) -> str:
        return (
            f'collection "{self.c_name}" is to be saved, but has neither include_regex nor tensor names; '
            f'give it a pattern, as in get_collection("{self.c_name}").include("relu")'
        )


class _StepError(SMDebugError):
    _words = ""

    def __init__(self, step: int, mode: ModeKeys, *, hint: str = ""):
        super().__init__(step, mode)
        self.step = step
        self.mode = mode
        self.hint = hint

    def __str__(self) -> str:
        return _with_hint(f"step {self.step} of mode {self.mode.name} {self._words}", self.hint)


class StepNotYetAvailable(_StepError):
    """The training has not come to this step."""

    _words = "is not there yet"


class StepUnavailable(_StepError):
    """The step was not saved and never will be."""

    _words = "is not there: it was not saved"


class MissingCollectionFiles(SMDebugError):
    """The training has ended and left no manifest of its collections."""

    def __init__(self, *, hint: str = "") -> None:
        super().__init__()
        self.hint = hint

    def __str__(self) -> str:
        return _with_hint("the training has ended and has not left the manifests of its collections", self.hint)


class IndexReaderException(SMDebugError):
    """An index file cannot be read."""

    def __init__(self, message: str):
        super().__init__(message)
        self.message = message

    def __str__(self) -> str:
        return self.message


class TensorUnavailableForStep(SMDebugError):
    """The tensor has no value at this step."""

    def __init__(
        self,
        tname: str,
        step: int,
        mode: ModeKeys = ModeKeys.GLOBAL,
        has_reductions: bool = False,
        *,
        hint: str = "",
    ):
        super().__init__(tname, step, mode, has_reductions)
        self.tname = tname
        self.step = step
        self.mode = mode
        self.has_reductions = has_reductions
        self.hint = hint

    def __str__(self) -> str:
        words = f'tensor "{self.tname}" has no value at step {self.step} of mode {self.mode.name}: it was not saved'
        if self.has_reductions:
            words += "; its reductions were, ask for reduction_value() or reduction_values()"
        return _with_hint(words, self.hint)


class ShapeUnavailableForStep(SMDebugError):
    """Neither the shape nor the value of the tensor was saved at this step."""

    def __init__(self, tname: str, step: int, mode: ModeKeys = ModeKeys.GLOBAL, *, hint: str = ""):
        super().__init__(tname, step, mode)
        self.tname = tname
        self.step = step
        self.mode = mode
        self.hint = hint

    def __str__(self) -> str:
        words = f'tensor "{self.tname}" has no shape at step {self.step} of mode {self.mode.name}: it was not saved'
        return _with_hint(words, self.hint)


class TensorUnavailable(SMDebugError):
    """No step has a tensor of this name."""

    def __init__(self, tname: str, *, hint: str = ""):
        super().__init__(tname)
        self.tname = tname
        self.hint = hint

    def __str__(self) -> str:
        return _with_hint(f'tensor "{self.tname}" is not there: it was not saved', self.hint)


class InvalidWorker(SMDebugError):
    """The worker has not written this tensor at this step, or there is none of that name."""

    def __init__(self, worker: str, *, hint: str = ""):
        super().__init__(worker)
        self.worker = worker
        self.hint = hint

    def __str__(self) -> str:
        return _with_hint(f'worker "{self.worker}" has not written it', self.hint)


class NoMoreProfilerData(SMDebugError):
    """The training ended before this time."""

    def __init__(self, timestamp: int):
        super().__init__(timestamp)
        self.timestamp = timestamp
        self.msg = f"looked for time {timestamp} and came to the end of the training"

    def __str__(self) -> str:
        return self.msg


class NoMoreData(SMDebugError):
    """The training ended before this step."""

    def __init__(self, step: int, mode: ModeKeys, last_step: int):
        super().__init__(step, mode, last_step)
        self.step = step
        self.mode = mode
        self.last_step = last_step
        self.msg = (
            f"looked for step {step} of mode {mode.name} and came to the end of the training; "
            f"its last step is {last_step}"
        )

    def __str__(self) -> str:
        return self.msg


class RuleEvaluationConditionMet(SMDebugError):
    """A rule fired. end_of_rule: it has nothing more to say."""

    def __init__(self, rule_name: str, step: int, end_of_rule: bool = False):
        super().__init__(rule_name, step, end_of_rule)
        self.rule_name = rule_name
        self.step = step
        self.end_of_rule = end_of_rule

    def __str__(self) -> str:
        return f"rule {self.rule_name} fired at step {self.step}"


class InsufficientInformationForRuleInvocation(SMDebugError):
    """The rule cannot judge this run."""

    def __init__(self, rule_name: str, message: str):
        super().__init__(rule_name, message)
        self.rule_name = rule_name
        self.message = message

    def __str__(self) -> str:
        return f"rule {self.rule_name} cannot judge this run: {self.message}"
