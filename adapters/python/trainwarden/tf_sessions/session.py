"""Session: each run that trains a graph, or passes data through a model, becomes a step of this process' run."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any, Optional

from .. import faults
from .._cluster import rank_and_size
from .._opening import open_for_attach
from .._owners import is_owned, owning
from ..hook import Hook
from ..steps import Cycle
from ..stopping import StopTraining
from .plans import RunPlan, plan_of
from .recorder import RunRequest, SessionRecorder
from .vetoing import Vetoes, vetoes_of

# BaseSession._do_run(session, handle, targets, fetches, feeds, options, metadata)
RunFunction = Callable[..., list[Any]]


class GraphSession:
    """Captures what one thread of this process does with sessions of TensorFlow; those of others are left alone."""

    def __init__(self, run_dir: Optional[str], leave: Callable[[], None]) -> None:
        """`leave` ends this for good."""
        self.run_dir = run_dir
        self._leave = leave
        self._hook: Optional[Hook] = None
        self._recorder: Optional[SessionRecorder] = None
        self._vetoes: Optional[Vetoes] = None
        self._thread: Optional[threading.Thread] = None
        self._cycle: Cycle[str] = Cycle()
        self._mode = ""
        self._process = os.getpid()
        self._is_open_step = False  # something trained, and the step has not ended
        self._monitored: list[Any] = []  # sessions that can be told to stop, and run now: the outermost first
        self._trained: Any = None  # the last of them that trained
        self._vetoed: Any = None  # the one whose run was vetoed, and goes on to its end
        self._stop_reason: Optional[str] = None
        self._was_told = False  # to stop

    # Sessions that can be told to stop.

    def enter_monitored(self, session: Any) -> None:
        """A run of a MonitoredSession begins. It was told to stop, but the program trains on: then this ends it."""
        if self._stop_reason is not None and session._should_stop:
            raise StopTraining(self._stop_reason)
        if self.is_ours():
            self._monitored.append(session)

    def leave_monitored(self, session: Any) -> None:
        """The run has ended."""
        if self._monitored and self._monitored[-1] is session:
            self._monitored.pop()
            if self._stop_reason is not None and self._trained is session:  # one that evaluates goes on to its end
                session._should_stop = self._was_told = True
            if self._trained is session:
                self._trained = None
            if self._vetoed is session:
                self._vetoed = None

    def was_vetoed(self) -> bool:
        """Was the run of a MonitoredSession taken back which is about to end?"""
        is_its_run = bool(self._monitored) and self._monitored[-1] is self._vetoed
        return self._vetoed is not None and is_its_run and self.is_ours()

    # Runs.

    def run(self, run: RunFunction, session: Any, *what: Any) -> list[Any]:
        targets, fetches, feeds, options, metadata = what
        request = None if is_owned() or not self.is_ours() else self._begin(run, session, targets, fetches, feeds)
        if request is None:
            return run(session, None, *what)
        if self._was_told and request.plan.mode == "train":  # the training was ended, but the program trains on
            raise StopTraining(self._stop_reason or "")
        more = request.fetches()
        with owning():
            results = run(session, None, targets, [*fetches, *more], feeds, options, metadata)
        given = results[: len(fetches)]
        self._save(request, results[len(fetches) :])
        if request.held is not None:
            self._judge(request, run, session)
        self._end(request.plan)
        if self._stop_reason is not None and not self._monitored:
            self._stop()
        return given

    @faults.guarded("follow a run of a session")
    def _begin(self, run: RunFunction, session: Any, targets: Any, fetches: Any, feeds: Any) -> Optional[RunRequest]:
        plan = plan_of(session.graph, targets, fetches, feeds)
        if plan is None or not plan.mode:
            return None

        def fetch(tensors: list[Any]) -> list[Any]:
            return run(session, None, [], tensors, {}, None, None)

        recorder = self._recorder or self._open(session.graph, plan, fetch)
        hook = self._hook
        if recorder is None or hook is None:
            return None
        recorder.expect(plan)
        self._enter(hook, plan)
        begin = time.perf_counter_ns()
        request = recorder.request(plan)
        recorder.read(request, fetch)
        hook.add_cost_ns(max(0, time.perf_counter_ns() - begin))
        if self._vetoes is not None and plan.mode == "train":
            request.held = self._vetoes.hold(plan, session, (targets, fetches, feeds), fetch)
        return request

    def _enter(self, hook: Hook, plan: RunPlan) -> None:
        for optimizer in (*plan.optimizers, *plan.others):
            self._cycle.expect(optimizer)
        goes_on = plan.mode == self._mode == "train" and not any(map(self._cycle.ends_before, plan.optimizers))
        if self._is_open_step and not goes_on:
            self._end_step(hook)
        if plan.mode != self._mode:
            self._mode = plan.mode
            self._cycle.abandon()
            hook.set_mode(plan.mode)

    @faults.guarded("capture a run of a session")
    def _save(self, request: RunRequest, values: list[Any]) -> None:
        if self._recorder is not None:
            self._recorder.save(request, values)
            self._is_open_step = True

    @faults.guarded("ask whether a run of a session may be")
    def _judge(self, request: RunRequest, run: RunFunction, session: Any) -> None:
        """The run has updated: it is taken back where rules do not want it."""

        def write(operations: list[Any], feeds: dict[Any, Any]) -> None:
            with owning():
                run(session, None, operations, [], feeds, None, None)

        vetoes = self._vetoes
        if vetoes is not None and vetoes.is_vetoed() and vetoes.take_back(request.held, session.graph, write):
            self._vetoed = self._monitored[-1] if self._monitored else None

    @faults.guarded("end a run of a session")
    def _end(self, plan: RunPlan) -> None:
        hook = self._hook
        if hook is None or not self._is_open_step:
            return
        if plan.mode == "train":
            self._trained = self._monitored[-1] if self._monitored else None
        if self._ends_step(plan):
            self._end_step(hook)

    @faults.guarded("capture the metrics of an estimator")
    def evaluated(self, metrics: Mapping[str, Any]) -> None:
        """An estimator has evaluated: its last batch has the metrics, which are of all."""
        hook = self._hook
        if hook is not None and self._recorder is not None and self._is_open_step and self._mode == "eval":
            self._recorder.save_metrics(metrics)
            self._end_step(hook)

    def _ends_step(self, plan: RunPlan) -> bool:
        """With the last of the optimizers that take turns. All of a run step in it."""
        if plan.mode != "train":
            return not plan.has_metrics
        return all([self._cycle.ends_after(optimizer) for optimizer in sorted(plan.optimizers)][-1:])

    def _end_step(self, hook: Hook) -> None:
        self._is_open_step = False
        end = hook.step()
        self._cycle.end()
        if end.stop_requested and self._stop_reason is None:
            self._stop_reason = end.stop_reason
            faults.say(f"the training was asked to stop: {end.stop_reason}")

    def _stop(self) -> None:
        """Of a session that nobody can tell to stop."""
        reason = self._stop_reason or ""
        if self._hook is not None:
            self._flush(self._hook)
        self._leave()
        raise StopTraining(reason)

    @faults.guarded("write out what was captured")
    def _flush(self, hook: Hook) -> None:
        hook.flush()

    # The run.

    def _open(self, graph: Any, plan: RunPlan, fetch: Callable[[list[Any]], list[Any]]) -> Optional[SessionRecorder]:
        options: dict[str, Any] = {}
        place = rank_and_size()
        if place is not None:
            options.update(rank=place[0], world_size=place[1])
        steps = _steps_before(graph, fetch) if plan.mode == "train" else 0
        if steps > 0:
            options.update(first_global_step=steps, first_mode_steps={"train": steps})
        self._hook = open_for_attach(self.run_dir, ["tensorflow"], **options)
        if self._hook is None:
            self._leave()  # said why; once is enough
            return None
        self._thread = threading.current_thread()
        self._recorder = SessionRecorder(self._hook)
        self._vetoes = vetoes_of(self._hook)
        return self._recorder

    def is_ours(self) -> bool:
        """Does this thread train, or none yet?"""
        return self._thread is None or self._thread is threading.current_thread() or not self._thread.is_alive()

    @faults.guarded("close the run")
    def close(self) -> None:
        """Ends the step that is open and the run."""
        hook, self._hook, self._recorder, self._vetoes = self._hook, None, None, None
        if hook is not None and os.getpid() == self._process:
            hook.close()


def _steps_before(graph: Any, fetch: Callable[[list[Any]], list[Any]]) -> int:
    """How often the graph was trained already, as its global step says; one that has begun from a checkpoint was."""
    from tensorflow.python.framework import errors, ops

    counters = graph.get_collection(ops.GraphKeys.GLOBAL_STEP)
    if len(counters) != 1:
        return 0
    try:
        return max(0, int(fetch([counters[0]._as_graph_element()])[0]))
    except errors.FailedPreconditionError:  # it has no value yet
        return 0
