"""Hook: captures tensors of a training process into a run."""

from __future__ import annotations

import logging
import os
import sys
import time
import weakref
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from types import TracebackType
from typing import Any, Callable, Optional, Union

from . import _core, _spool
from ._ending import at_end
from .errors import Error, opening
from .faults import say
from .guard import StepAdvice
from .options import Collection, KeepLike, Mode, SaveLike, options_json

PathLike = Union[str, "os.PathLike[str]"]
# (step that ended last, request) -> where the state was saved.
SaveCheckpoint = Callable[[int, _core.CheckpointRequest], Optional[PathLike]]

_logger = logging.getLogger("trainwarden")
_ADVICE = {advice.value: advice for advice in StepAdvice}
_open_hooks: weakref.WeakSet[Hook] = weakref.WeakSet()


@at_end
def _close_hooks() -> None:
    for hook in list(_open_hooks):
        hook.close()


class Hook(_core.Hook):
    """Captures tensors of one training process into a run.

        with trainwarden.Hook("runs/first", include_collections=["weights"], save=10) as hook:
            for batch in data:
                ...
                hook.save_tensor("weight", weight)       # saved if a collection saves it at this step
                hook.save_scalar("accuracy", 0.93)
                if hook.step().stop_requested:           # from here on readers see the step
                    break

    A tensor is anything with DLPack, the buffer protocol or ``__array_interface__`` (NumPy, JAX, TensorFlow, CuPy), a
    tensor of PyTorch, a number, a text, or a list of them. It is read in place and may be changed after the call.

    No call harms the training: data that cannot be saved (no room, disk full, a device that cannot be read) are counted
    in ``report().losses``. Only wrong usage raises: wrong options when the hook is created, and arguments of a wrong
    type. ``flush()`` raises when the run could not be written.

    Threads: ``save_*``, ``wants*`` and ``declare`` may be called from several threads in parallel. ``step``,
    ``set_mode``, ``flush`` and ``close`` belong to the training thread; calls from other threads wait. After
    ``close()`` everything that is saved is counted as lost. In a forked child the hook is off: it counts steps and
    saves nothing. A hook that is still open when the program ends is closed then.

    Arguments:
        run_dir: the run's folder, created when missing. A folder that holds a finished run is refused. For
            ``s3://bucket/prefix`` the run is written to the local disk, and a process beside this one sends it there.
        collections: named sets of tensors, all of which are saved.
        include_collections: built-in collections to save: "weights", "biases", "gradients", "outputs", ...
        include: patterns (PCRE2, found anywhere in a name) of tensors to save.
        save_all: save everything.
        save: at which steps: an interval, a SaveSchedule, or a SavePolicy with a schedule for each mode.
        keep: in which form: a KeepForm or its words, ``"values"``, ``"statistics"``, ``["values", "histogram"]``.
        budget: share of the training's time that capture may take, 0.01 is 1 %; 0: no limit.
        rank, world_size: of this worker, and how many there are.
        include_workers: "all", or "one": only rank 0 writes.
        staging_bytes: the memory in which tensors wait for the disk; also a text, "512MiB". With the default it
            grows to 1 GiB.
        when_full: what happens when it is full: "drop", "statistics" or "block".
        durability: against power loss: "none", "interval" or "step".
        segment_bytes: a file of the run is closed when it grows past this.
        compress: words, statistics and other tables of the run are compressed; False: as programs before version 2 of
            the format read it.
        max_run_bytes: what the run may take of the disk, "20GB": near it statistics are kept in place of whole tensors,
            then losses alone. 0: no limit.
        min_free_bytes: the same so that the disk keeps so much free. Unless you set it, at most a twentieth of it.
        dry_run: decide and count, but write nothing.
        resume: go on with a run that has ended, instead of raising FileExistsError.
        black_box: how many of the last steps are held whole in memory, to be written when something goes wrong:
            a number of steps, True (3), or an object as in the configuration file, ``{"steps": 5, "bytes": "1GiB"}``.
        operators: in which steps the operators of the framework are recorded: ``"5:15"``, ``"auto"``, ``"on"``, ``"off"``.
        python_stacks: how often in a second the stacks of Python's threads are sampled in these steps; 0: never.
        checkpoint_on_request: False: requests to save the training's state are refused (see on_checkpoint()).
        first_global_step, first_mode_steps: where counting begins, for a program that continues from a checkpoint:
            ``first_global_step=400, first_mode_steps={"train": 300, "eval": 100}``.
        tensorboard_dir: the run is also exported for TensorBoard there, by the process that follows the run.
        code_version, labels: free texts that are recorded with the run.

    Raises:
        ValueError: an option is wrong (InvalidArgument).
        FileExistsError: the folder holds a finished run, or another process writes this rank.
        PermissionError, OSError: the folder cannot be written.
    """

    _save_checkpoint: SaveCheckpoint | None = None
    _save_checkpoint_by_default: SaveCheckpoint | None = None
    _saving_ns = 0  # spent on checkpoints that were asked for; who has noted it sets it to 0

    def __init__(
        self,
        run_dir: PathLike,
        *,
        collections: Iterable[Collection] = (),
        include_collections: Iterable[str] = (),
        include: Iterable[str] = (),
        save_all: bool = False,
        save: SaveLike | None = None,
        keep: KeepLike | None = None,
        budget: float = 0.0,
        rank: int = 0,
        world_size: int = 1,
        include_workers: str = "all",
        staging_bytes: int | str = 256 << 20,
        when_full: str = "drop",
        durability: str = "none",
        segment_bytes: int | str = 1 << 30,
        compress: bool = True,
        max_run_bytes: int | str = 0,
        min_free_bytes: int | str = 1 << 30,
        dry_run: bool = False,
        resume: bool = False,
        black_box: int | bool | Mapping[str, Any] = 0,
        operators: str = "off",
        python_stacks: int | str = 100,
        checkpoint_on_request: bool = True,
        first_global_step: int = 0,
        first_mode_steps: Mapping[str, int] | None = None,
        tensorboard_dir: PathLike | None = None,
        code_version: str = "",
        labels: Mapping[str, object] | None = None,
    ) -> None:
        options = {name: value for name, value in locals().items() if name != "self"}
        self._open(_core.parse_options(options_json(options), "Hook"))

    @classmethod
    def from_environment(cls, run_dir: PathLike = "", **options: Any) -> Hook:
        """A hook with these options; TRAINWARDEN_CONFIG and the TRAINWARDEN_* variables override them."""
        base = _core.parse_options(options_json({"run_dir": run_dir, **options}), "Hook.from_environment")
        with opening():
            return cls._of(_core.options_from_environment(base))._guarded()

    @classmethod
    def from_config(cls, file: PathLike) -> Hook:
        """A hook with the options of a JSON file (docs/reference/config.md)."""
        with opening():
            return cls._of(_core.load_options(os.fspath(file)))

    @classmethod
    def for_attach(
        cls,
        run_dir: PathLike | None = None,
        *,
        rank: int | None = None,
        world_size: int | None = None,
        labels: Mapping[str, str] | None = None,
        framework: str = "",
        first_global_step: int = 0,
        first_mode_steps: Mapping[str, int] | None = None,
    ) -> Hook:
        """A hook for an unchanged program. It captures what the environment configures, else losses and statistics of
        weights, biases, gradients and outputs at every step, under a budget of 1 %. Arguments take precedence, except
        for `labels`, where the environment and the configuration do. `framework`: what it trains with, and its version;
        it is recorded with the run."""
        with opening():
            options = _core.options_for_attach()
        if run_dir is not None:
            options.run_dir = os.fspath(run_dir)
        if rank is not None:
            options.rank = rank
        if world_size is not None:
            options.world_size = world_size
        if labels is not None:
            options.labels = {**labels, **options.labels}
        options.framework = framework
        if first_global_step or first_mode_steps:
            options.set_first_steps(first_global_step, dict(first_mode_steps or {}))
        return cls._of(options)._guarded()

    @classmethod
    def disabled(cls) -> Hook:
        """A hook that is switched off: each call is cheap and saves nothing; only steps are counted."""
        return cls._of(None)

    @classmethod
    def _of(cls, options: _core.HookOptions | None) -> Hook:
        hook = cls.__new__(cls)
        hook._open(options)
        return hook

    def _open(self, options: _core.HookOptions | None) -> None:
        copy = _spool.redirect(options)
        super().__init__(options)
        _open_hooks.add(self)
        if copy is not None:
            copy.start()

    def on_checkpoint(self, save: SaveCheckpoint) -> None:
        """From now on `save(step, request)` is called when there is a request to save the training's state.

            def save(step, request):
                path = f"checkpoints/{step}.pt"
                torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "step": step}, path)
                return path

            hook.on_checkpoint(save)

        step() calls it at its end, in the training thread, with the number of the step that has just ended. It returns
        the place of the state: a file, a folder or a URL; None: not known. An exception is reported in the answer to
        the request, and the training continues. It can use write_checkpoint() for a file in the run's folder. Call
        on_checkpoint() before the first step ends: until then requests wait, and after that they are refused.
        """
        self._save_checkpoint = save
        self.offer_checkpoints()

    def _save_by_default(self, save: SaveCheckpoint) -> None:
        """For adapters that know the training's state. A function of on_checkpoint() takes precedence."""
        self._save_checkpoint_by_default = save
        self.offer_checkpoints()

    def _answer_checkpoint(self, step: int) -> None:
        """step() calls this when a checkpoint is requested. A program that only offers checks for requests itself."""
        save = self._save_checkpoint or self._save_checkpoint_by_default
        request = self.take_checkpoint_request() if save is not None else None
        if save is None or request is None:
            return
        begin = time.perf_counter_ns()
        try:
            path = save(step, request)
            where = "" if path is None else os.fspath(path)
        except BaseException as error:
            self.answer_checkpoint(request, "", f"{type(error).__name__}: {error}")
            if not isinstance(error, Exception):  # Ctrl-C and sys.exit() are the program's
                raise
            return
        finally:
            self._saving_ns += time.perf_counter_ns() - begin
        self.answer_checkpoint(request, where)

    def guard(
        self,
        *rules: str,
        on_fire: str = "report",
        keep_going: bool = False,
        time_limit_s: float = 0.05,
        mute: Iterable[str] = (),
    ) -> None:
        """From now on these rules judge inside the training: at each call of judge(), and when a step ends.

        Arguments:
            rules: as of `trainwarden run --rule`: "ExplodingTensor", "VanishingGradient:threshold=1e-6", "default".
            on_fire: "report"; "skip_step": judge() vetoes the optimizer's step; "stop": and the training ends.
            keep_going: continue with a rule that has fired ("skip_step" always does).
            time_limit_s: a rule that takes longer three times in a row is parked.
            mute: keys of verdicts that do not veto.

        Raises:
            ValueError: a rule that does not exist, or that cannot judge inside the training.
            FileExistsError: the hook already has a guard.
        """
        self.install_guard(list(rules), on_fire, keep_going, time_limit_s, list(mute))

    def judge(self) -> StepAdvice:
        """Lets the guard, if there is one, judge what was saved in this step so far. Call it just before an optimizer
        steps, from the training thread. judge_reason says why the answer was not "proceed"."""
        return _ADVICE[self.judge_step()]

    def _guarded(self) -> Hook:
        """Installs the rules of TRAINWARDEN_GUARD_RULES. When that fails, it is logged and the training continues."""
        try:
            self.install_guard_from_environment()
        except Error as problem:
            _logger.error("no rule judges inside this training: %s", problem)
        return self

    @contextmanager
    def mode(self, mode: Mode | str) -> Iterator[Hook]:
        """``with hook.mode("eval"):`` the steps inside have that mode; afterwards the previous mode is restored."""
        before = self.current_mode
        self.set_mode(mode)
        try:
            yield self
        finally:
            self.set_mode(before)

    def __enter__(self) -> Hook:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._write_black_box(error)
        self.close()

    def close(self) -> None:
        """Ends an open step, writes everything and seals the run. A second call does nothing. Waits at most 30 s.

        Never raises for data that could not be written: they are logged and counted in report().losses.
        """
        if not hasattr(sys, "ps1"):  # a program ends here; an interactive session continues
            self._write_black_box(getattr(sys, "last_value", None))
        try:
            super().close()
        except Error as problem:
            say(f"warning: the run could not be closed: {problem}")

    def _write_black_box(self, error: BaseException | None) -> None:
        """Writes the steps before an unhandled error. Ctrl-C and sys.exit() are no errors."""
        if isinstance(error, Exception):  # without a black box this does nothing
            self.dump_black_box(f"{type(error).__name__}: {error}", kind="exception")
