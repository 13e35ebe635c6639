"""Each exception: its arguments, its bases, and what its message says."""

from __future__ import annotations

import pickle

import pytest

from smdebug import exceptions, modes
from smdebug.exceptions import (
    IndexReaderException,
    InsufficientInformationForRuleInvocation,
    InvalidCollectionConfiguration,
    InvalidWorker,
    MissingCollectionFiles,
    NoMoreData,
    NoMoreProfilerData,
    RuleEvaluationConditionMet,
    ShapeUnavailableForStep,
    SMDebugError,
    StepNotYetAvailable,
    StepUnavailable,
    TensorUnavailable,
    TensorUnavailableForStep,
)


@pytest.mark.parametrize(
    ("name", "base"),
    [
        ("SMDebugTypeError", TypeError),
        ("SMDebugRuntimeError", RuntimeError),
        ("SMDebugNotImplementedError", NotImplementedError),
        ("SMDebugValueError", ValueError),
        ("SMDebugCustomerError", SMDebugError),
    ],
)
def test_general_ones_are_also_those_of_python(name: str, base: type[Exception]) -> None:
    error = getattr(exceptions, name)("the words")
    assert isinstance(error, SMDebugError) and isinstance(error, base)
    assert str(error) == "the words"


EXAMPLES = [
    (InvalidCollectionConfiguration("relu"), {"c_name": "relu"}, ['"relu"', "include_regex"]),
    (StepNotYetAvailable(7, modes.EVAL), {"step": 7, "mode": modes.EVAL}, ["step 7 of mode EVAL", "not there yet"]),
    (StepUnavailable(7, modes.TRAIN), {"step": 7, "mode": modes.TRAIN}, ["step 7 of mode TRAIN", "not saved"]),
    (TensorUnavailable("w"), {"tname": "w"}, ['"w"', "not saved"]),
    (
        TensorUnavailableForStep("w", 3),
        {"tname": "w", "step": 3, "mode": modes.GLOBAL, "has_reductions": False},
        ['"w"', "step 3 of mode GLOBAL"],
    ),
    (
        TensorUnavailableForStep("w", 3, modes.TRAIN, has_reductions=True),
        {"has_reductions": True},
        ["its reductions were", "reduction_value()"],
    ),
    (ShapeUnavailableForStep("w", 3, modes.EVAL), {"tname": "w", "step": 3, "mode": modes.EVAL}, ["no shape", "EVAL"]),
    (MissingCollectionFiles(), {}, ["has ended", "collections"]),
    (IndexReaderException("bad index"), {"message": "bad index"}, ["bad index"]),
    (InvalidWorker("worker_9"), {"worker": "worker_9"}, ['"worker_9"']),
    (NoMoreData(9, modes.TRAIN, 5), {"step": 9, "mode": modes.TRAIN, "last_step": 5}, ["step 9", "last step is 5"]),
    (NoMoreProfilerData(123), {"timestamp": 123}, ["123"]),
    (
        RuleEvaluationConditionMet("Rule", 4),
        {"rule_name": "Rule", "step": 4, "end_of_rule": False},
        ["Rule fired at step 4"],
    ),
    (RuleEvaluationConditionMet("Rule", 4, end_of_rule=True), {"end_of_rule": True}, []),
    (
        InsufficientInformationForRuleInvocation("Rule", "no losses"),
        {"rule_name": "Rule", "message": "no losses"},
        ["Rule", "no losses"],
    ),
]


@pytest.mark.parametrize(("error", "attributes", "words"), EXAMPLES, ids=lambda value: type(value).__name__)
def test_arguments_and_words(error: SMDebugError, attributes: dict[str, object], words: list[str]) -> None:
    assert isinstance(error, SMDebugError)
    assert {name: getattr(error, name) for name in attributes} == attributes
    assert all(word in str(error) for word in words)


def test_a_hint_says_what_there_is_instead() -> None:
    assert str(TensorUnavailable("w", hint='the nearest name is "v"')).endswith('; the nearest name is "v"')


@pytest.mark.parametrize("error", [error for error, _, _ in EXAMPLES], ids=lambda error: type(error).__name__)
def test_they_travel_between_processes(error: SMDebugError) -> None:
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


def test_every_exception_of_smdebug_is_here() -> None:
    assert {error for error, _, _ in ((type(example), 0, 0) for example, _, _ in EXAMPLES)} >= {
        found
        for found in vars(exceptions).values()
        if isinstance(found, type)
        and issubclass(found, SMDebugError)
        and not found.__name__.startswith(("SMDebug", "_"))
    }
