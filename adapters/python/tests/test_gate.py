"""Gates: what is called through them, and when a function of ours hears of it."""

from __future__ import annotations

import copy
import functools
import gc
import inspect
import pickle
import sys
import threading
import weakref
from typing import Any, Callable

import pytest

from trainwarden import _core

Gate: Any = _core.Gate


def theirs(self: object, *args: Any, **kwargs: Any) -> tuple[str, Any]:
    """What is called through the gate."""
    return ("theirs", (self, args, kwargs))


told: list[Any] = []  # arguments of the calls that ours() has heard of


def ours(*args: Any, **kwargs: Any) -> None:
    """What is called before a call that is looked at."""
    told.append((args, kwargs))


def who(gate: Any, *args: Any, **kwargs: Any) -> str:
    """Calls through the gate: "ours" when ours() has heard of it."""
    told.clear()
    assert gate(*args, **kwargs) == ("theirs", (args[0], args[1:], kwargs))
    assert told in ([], [(args, kwargs)])
    return "ours" if told else "theirs"


class Thing:
    method = functools.update_wrapper(Gate(theirs, ours), theirs)

    def __init__(self) -> None:
        self.training = True


@pytest.fixture
def gate() -> Any:
    return Gate(theirs, ours)


def test_it_is_open_at_first(gate: Any) -> None:
    assert who(gate, 1, 2, key=3) == "ours"


def test_it_passes_on_when_shut(gate: Any) -> None:
    gate.look_at(())
    assert who(gate, 1, 2, key=3) == "theirs"
    gate.look_at(None)
    assert who(gate, 1) == "ours"


def test_it_looks_at_some(gate: Any) -> None:
    thing, other = Thing(), Thing()
    gate.look_at({id(thing)})
    assert [who(gate, thing), who(gate, other), who(gate, thing, 1, a=2)] == ["ours", "theirs", "ours"]


def test_without_arguments_torchs_own_words_are_heard() -> None:
    gate = Gate(theirs, ours)
    gate.look_at(())
    with pytest.raises(TypeError, match="theirs\\(\\) missing 1 required positional argument: 'self'"):
        gate()


def test_ids_are_numbers(gate: Any) -> None:
    gate.look_at([7])
    with pytest.raises(TypeError):
        gate.look_at(["seven"])
    with pytest.raises(TypeError):
        gate.look_at(7)
    assert who(gate, 1) == "theirs", "as before"


def test_a_gate_in_a_class_is_a_method() -> None:
    thing = Thing()
    told.clear()
    assert thing.method(1) == Thing.method(thing, 1) == ("theirs", (thing, (1,), {}))
    assert told == [((thing, 1), {})] * 2
    assert (thing.method.__self__, thing.method.__func__) == (thing, Thing.__dict__["method"])
    assert inspect.signature(Thing.method) == inspect.signature(theirs)
    assert (Thing.method.__name__, Thing.method.__doc__) == ("theirs", theirs.__doc__)
    copied = copy.deepcopy(thing)
    assert copied.method()[1][0] is copied
    assert isinstance(pickle.loads(pickle.dumps(thing)), Thing)


def test_it_passes_for_the_function_that_it_stands_in_for() -> None:
    gate = Thing.__dict__["method"]
    assert inspect.isfunction(gate) and gate.__code__ is theirs.__code__ and gate.__globals__ is theirs.__globals__
    assert inspect.getsource(gate) == inspect.getsource(theirs)
    assert repr(gate) == repr(theirs)
    with pytest.raises(AttributeError):
        gate.nothing_of_this_name
    with pytest.raises(TypeError, match="cannot pickle"):
        pickle.dumps(Gate(theirs, ours))
    gate.set_reduced((getattr, (Thing, "method")))
    assert pickle.loads(pickle.dumps(gate)) is gate and copy.deepcopy(gate) is gate


class Around:
    """What a gate calls, in order."""

    def __init__(self, function: Callable[..., Any], replaces: Any = None) -> None:
        self.calls: list[Any] = []
        self.replaces = replaces
        self.gate = Gate(function, self.begins, self.ends, self.fails)

    def begins(self, *args: Any) -> Any:
        self.calls.append(("begins", args))
        return self.replaces or "note"

    def ends(self, note: Any, result: Any) -> None:
        self.calls.append(("ends", note, result))

    def fails(self, note: Any) -> None:
        self.calls.append(("fails", note))
        raise RuntimeError("of ours")


def test_what_is_called_around() -> None:
    around = Around(lambda number: number + 1)
    assert around.gate(1) == 2
    assert around.calls == [("begins", (1,)), ("ends", "note", 2)]
    replaced = Around(lambda number: number + 1, replaces=("note", (5,), {}))
    assert replaced.gate(1) == 6
    assert replaced.calls == [("begins", (1,)), ("ends", "note", 6)]


def test_a_failure_is_the_programs_own() -> None:
    around = Around(raising(KeyError("theirs")))
    with pytest.raises(KeyError, match="theirs") as raised:
        around.gate(1)
    assert around.calls == [("begins", (1,)), ("fails", "note")]
    assert [frame.name for frame in raised.traceback] == ["test_a_failure_is_the_programs_own", "function"]


def test_no_frame_of_ours_is_in_the_stack() -> None:
    def depth(left: int) -> int:
        return gate(left - 1) if left > 0 else len(inspect.stack(0))

    gate = Gate(depth, ours)
    assert gate(20) - gate(0) == 20


def test_the_programs_trace_functions_hear_nothing_of_ours() -> None:
    heard: list[str] = []
    sys.setprofile(lambda frame, event, argument: heard.append(frame.f_code.co_name) if event == "call" else None)
    try:
        Gate(theirs, ours)(1)
    finally:
        sys.setprofile(None)
    assert heard == (["theirs"] if sys.version_info >= (3, 11) else ["ours", "theirs"])


def test_a_kind_is_looked_at() -> None:
    gate = Gate(theirs, ours)
    gate.look_at(())
    gate.look_at_kind(Thing)
    assert [who(gate, Thing()), who(gate, 1)] == ["ours", "theirs"]
    gate.look_at_kind(None)
    assert who(gate, Thing()) == "theirs"
    with pytest.raises(TypeError, match="expected a type"):
        gate.look_at_kind(1)


def test_of_refused_calls_the_first_are_told() -> None:
    gate, thing = Gate(theirs, ours), Thing()
    gate.note_in_training({id(thing)}, lambda: False)
    assert [who(gate, thing) for _ in range(66)] == ["ours"] * 64 + ["theirs"] * 2
    assert [gate.take_refused(), gate.take_refused(), gate.take_noted()] == [2, 0, False]
    assert who(gate, thing) == "ours"


class Asking:
    """A module whose `training` is a property of the program's."""

    asked = 0

    @property
    def training(self) -> bool:
        Asking.asked += 1
        return True


def test_a_property_of_the_program_is_not_asked() -> None:
    gate, thing = Gate(theirs, ours), Asking()
    gate.note_in_training({id(thing)}, lambda: True)
    assert (who(gate, thing), Asking.asked) == ("ours", 0)


@pytest.mark.parametrize("training, heard, noted", [(True, "theirs", True), (False, "ours", False), (None, "ours", False)])
def test_calls_in_training_are_noted(gate: Any, training: object, heard: str, noted: bool) -> None:
    thing = Thing()
    thing.training = training  # type: ignore[assignment]
    gate.look_at({id(thing)})
    gate.note_in_training({id(thing)}, lambda: True)
    assert who(gate, thing) == heard
    assert [gate.take_noted(), gate.take_noted()] == [noted, False]


def _fails() -> bool:
    raise ValueError("no answer")


@pytest.mark.parametrize("may_pass, heard", [(lambda: True, "theirs"), (lambda: False, "ours"), (_fails, "ours")])
def test_calls_in_training_are_asked_about(gate: Any, may_pass: Callable[[], bool], heard: str) -> None:
    thing = Thing()
    gate.note_in_training({id(thing)}, may_pass)
    assert who(gate, thing) == heard
    assert gate.take_noted() == (heard == "theirs")


def test_what_has_no_mode_is_ours(gate: Any) -> None:
    gate.note_in_training({id(gate)}, lambda: True)
    assert who(gate, gate) == "ours"


class Counting:
    """Steps that are counted, as long as `answers` has True for each."""

    def __init__(self, *answers: bool) -> None:
        self.answers = list(answers)
        self.late: list[object] = []
        self.calls = Gate(theirs, ours)
        self.gate = Gate(theirs, ours)
        self.thing = Thing()
        self.gate.count((id(self.thing),), threading.get_ident(), self.end, self.late.append, self.calls)
        self.calls.note_in_training({id(self.thing)}, lambda: True)

    def end(self) -> bool:
        return self.answers.pop(0)


def test_calls_are_counted_after_they_returned() -> None:
    steps = Counting(True, False)
    steps.calls(steps.thing)
    assert steps.gate(steps.thing) == ("theirs", (steps.thing, (), {}))
    assert (steps.answers, steps.late, steps.calls.take_noted()) == ([False], [], False)
    steps.calls(steps.thing)
    assert who(steps.gate, steps.thing) == "theirs"
    assert (steps.answers, steps.late, steps.calls.take_noted()) == ([], [steps.thing], True)


def test_others_are_not_counted() -> None:
    steps = Counting()
    assert who(steps.gate, Thing()) == "ours"
    assert who(steps.gate, steps.thing, 1) == "ours", "a closure, perhaps"
    heard: list[str] = []
    thread = threading.Thread(target=lambda: heard.append(who(steps.gate, steps.thing)))
    thread.start()
    thread.join()
    assert heard == ["ours"]
    steps.gate.count((), 0, None, None, steps.calls)
    assert who(steps.gate, steps.thing) == "ours"


def test_several_objects_are_counted_once_in_their_order() -> None:
    steps = Counting(True, False, True)
    first, last = steps.thing, Thing()
    steps.gate.count((id(first), id(last)), threading.get_ident(), steps.end, steps.late.append, steps.calls)
    assert [who(steps.gate, each) for each in (first, last)] == ["theirs", "theirs"]
    assert (steps.answers, steps.late, steps.gate.take_passed()) == ([False, True], [], 0)
    steps.gate(first)
    steps.gate(last)
    assert (steps.answers, steps.late) == ([True], [last]), "the end was not counted"
    assert (steps.gate.take_passed(), steps.gate.take_passed()) == (1, 0), "the first one had passed"
    steps.gate(last)
    assert (steps.late, steps.gate.take_passed()) == ([last, last], 0), "another one was due"
    steps.gate(first)
    steps.gate(first)
    assert (steps.late[2:], steps.gate.take_passed()) == ([first], 1), "twice in a step"
    assert steps.answers == [True]


def raising(error: BaseException) -> Callable[..., Any]:
    def function(*_: object) -> Any:
        raise error

    return function


class Hooks:
    """Two hooks around what an object does, the second of which counts."""

    def __init__(self, *answers: bool) -> None:
        self.heard: list[str] = []
        self.before = Gate(None, lambda *_: self.heard.append("before"))
        self.after = Gate(None, lambda *_: self.heard.append("after"), behind=self.before)
        self.thing = Thing()
        self.ends = list(answers)
        here, calls = threading.get_ident(), Gate(theirs, ours)
        self.before.count((id(self.thing),), here, None, None, calls)
        self.after.count((id(self.thing),), here, lambda: self.ends.pop(0), lambda _: self.heard.append("late"), calls)

    def run(self, thing: object, *arguments: object, **named: object) -> list[str]:
        self.heard.clear()
        assert self.before(thing, (thing, *arguments), named) is None
        assert self.after(thing, (thing, *arguments), named) is None
        return self.heard


def test_hooks_of_an_object_alone_are_counted() -> None:
    hooks = Hooks(True, False)
    assert hooks.run(hooks.thing) == []
    assert hooks.run(hooks.thing) == ["late"]
    assert hooks.ends == []
    assert hooks.run(Thing()) == ["before", "after"]
    assert hooks.run(hooks.thing, 1) == ["before", "after"]
    assert hooks.run(hooks.thing, closure=1) == ["before", "after"]


def test_what_was_not_counted_before_is_not_counted_after() -> None:
    hooks = Hooks(True)
    hooks.before(hooks.thing, (hooks.thing, "a closure"), {})
    hooks.after(hooks.thing, (hooks.thing,), {})
    assert hooks.heard == ["before", "after"]
    with pytest.raises(TypeError, match="expected a gate"):
        Gate(None, ours, behind=theirs)


def test_a_call_that_fails_is_not_counted() -> None:
    steps = Counting()
    gate = Gate(raising(KeyError("theirs")), ours)
    gate.count((id(steps.thing),), threading.get_ident(), steps.end, steps.late.append, steps.calls)
    with pytest.raises(KeyError, match="theirs"):
        gate(steps.thing)


def test_a_request_to_stop_goes_through() -> None:
    steps = Counting(False)
    steps.gate.count((id(steps.thing),), threading.get_ident(), steps.end, raising(SystemExit(143)), steps.calls)
    with pytest.raises(SystemExit):
        steps.gate(steps.thing)


def test_what_is_not_counted_any_more_when_it_returns() -> None:
    steps = Counting()
    gate = Gate(lambda thing: gate.count((), 0, None, None, steps.calls), ours)
    gate.count((id(steps.thing),), threading.get_ident(), steps.end, steps.late.append, steps.calls)
    assert gate(steps.thing) is None


def test_it_goes_with_what_it_holds() -> None:
    thing = Thing()
    gate = Gate(theirs, ours)
    gate.itself, gate.thing = gate, thing
    gate.count((id(thing),), 0, thing.method, gate, gate)
    gone = [weakref.ref(gate), weakref.ref(thing)]
    del gate, thing
    gc.collect()
    assert [each() for each in gone] == [None, None]
