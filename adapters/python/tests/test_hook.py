"""Hook: steps, modes, what is wanted, what is reported, how it ends."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import trainwarden as tw
from trainwarden import _core


def test_steps_count_within_their_mode(run_dir: Path) -> None:
    with tw.Hook(run_dir) as hook:
        with hook.mode("train"):
            hook.save_scalar("loss", 1.0)
            end = hook.step()
            assert (end.global_step, end.mode, end.mode_step) == (0, "train", 0)
            assert not end.stop_requested and end.stop_reason == ""
        with hook.mode(tw.Mode.EVAL):
            assert hook.current_mode == tw.Mode.EVAL
            hook.save_scalar("loss", 2.0)
            hook.step()
            assert (hook.global_step, hook.mode_step) == (2, 1)
        assert hook.current_mode == "global"
    trial = tw.open(run_dir)
    assert trial.modes == [tw.Mode.TRAIN, tw.Mode.EVAL]
    assert trial.scalar("loss", 0, "train") == 1.0


def test_the_mode_before_comes_back_after_an_exception(run_dir: Path) -> None:
    with tw.Hook(run_dir) as hook:
        hook.set_mode("train")
        with pytest.raises(ZeroDivisionError), hook.mode("eval"):
            1 / 0
        assert hook.current_mode == "train"


def test_only_what_is_wanted_is_kept(run_dir: Path) -> None:
    with tw.Hook(run_dir, include_collections=["weights"], save=2) as hook:
        weight = hook.declare("weight", ["weights"])
        other = hook.declare("other")
        assert hook.wants(weight) and hook.wants("weight") and not hook.wants(other)
        assert hook.wants_anything() and hook.wants_collection("weights") and not hook.wants_collection("gradients")
        assert hook.next_wanted_step(other) is None
        hook.step()
        assert not hook.wants(weight)
        assert hook.next_wanted_step(weight) == 2
        for step in range(1, 5):
            hook.save_tensor(weight, np.full(2, step))
            hook.save_tensor("other", np.zeros(2))
            hook.step()
    trial = tw.open(run_dir)
    assert trial.tensor("weight").steps() == [2, 4]
    assert not trial.has_tensor("other")


def test_policies_collections_and_keep_forms(run_dir: Path) -> None:
    policy = tw.SavePolicy(train=tw.SaveSchedule(save_interval=2), eval=tw.SaveSchedule(end_step=0, save_steps=(1,)))
    mine = tw.Collection("mine", include=("^m",), save=policy, keep=["statistics", "histogram"])
    with tw.Hook(run_dir, collections=[mine], labels={"learning rate": 0.1}, code_version="abc") as hook:
        for mode in ("train", "eval"):
            hook.set_mode(mode)
            for _ in range(3):
                hook.save_tensor("m", np.arange(4.0))
                hook.step()
    trial = tw.open(run_dir)
    assert trial.labels == {"learning rate": "0.1"}
    assert trial.tensor("m").steps("train") == [0, 2]
    assert trial.tensor("m").steps("eval") == [1]
    assert trial.collection("mine").include == ("^m",)
    statistics = trial.statistics("m", 0, "train")
    histogram = statistics.histogram
    assert histogram is not None and histogram.counts.sum() == 4
    with pytest.raises(LookupError, match="was not kept"):
        trial.value("m", 0, "train")


def test_single_reductions(run_dir: Path) -> None:
    with tw.Hook(run_dir, include=["^w"], save=2) as hook:
        number = hook.declare("w/by/number")
        for step in range(2):
            hook.save_reductions("w", [("mean", True, 0.5), (tw.Reduction.PROD, False, -3)])
            hook.save_reductions(number, [("l2", False, 7.0)])
            hook.save_reductions("unwanted", [("l2", False, 7.0)])
            hook.save_tensor("w", np.array([3.0, -4.0]))
            hook.step()
        with pytest.raises(ValueError, match="expected min"):
            hook.save_reductions("w", [("median", False, 0.0)])
    assert hook.report().reductions == 3
    trial = tw.open(run_dir)
    assert trial.tensor_names() == ["w", "w/by/number"]
    assert trial.saved_reductions("w", 0) == [("mean", True, 0.5), ("prod", False, -3.0)]
    assert trial.reduction("w", 0, "mean", abs=True) == 0.5
    assert trial.tensor("w").reduction(0, "mean") == -0.5
    assert trial.tensor("w/by/number").saved_reductions(0) == [("l2", False, 7.0)]
    info = trial.tensor_info("w/by/number")
    assert (info.reductions, info.values) == (1, 0)
    with pytest.raises(tw.errors.OutOfRange, match="only its l2"):
        trial.reduction("w/by/number", 0, tw.Reduction.MEAN)


def test_counting_goes_on_from_a_checkpoint(run_dir: Path) -> None:
    with tw.Hook(run_dir, save=1, save_all=True, first_global_step=7, first_mode_steps={"train": 4}) as hook:
        hook.set_mode("train")
        hook.save_scalar("loss", 1.0)
        end = hook.step()
        assert (end.global_step, end.mode_step, hook.mode_step) == (7, 4, 5)
    assert tw.open(run_dir).steps("train") == [4]
    with pytest.raises(ValueError, match="first_mode_steps.train"):
        tw.Hook(run_dir / "other", first_mode_steps={"train": -1})


SMDEBUG = """{"LocalPath": "%s", "HookParameters": {"save_interval": "2", "export_tensorboard": "true"},
 "CollectionConfigurations": [{"CollectionName": "w", "CollectionParameters":
   {"include_regex": "^w", "eval.save_interval": 3, "reductions": "min,l2_norm"}}]}"""


def test_a_configuration_of_smdebug(run_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config = run_dir.with_suffix(".json")
    config.write_text(SMDEBUG % run_dir)
    monkeypatch.setenv("SMDEBUG_CONFIG_FILE_PATH", str(config))
    with tw.Hook.from_environment() as hook:
        for _ in range(3):
            hook.save_tensor("w", np.array([3.0, -4.0]))
            hook.step()
    trial = tw.open(run_dir)
    assert trial.tensor("w").steps() == [0, 2]
    assert trial.reduction("w", 2, "l2") == 5.0
    assert _core.load_options(str(config)).tensorboard_dir == str(run_dir / "tensorboard")


def test_what_a_configuration_of_smdebug_says() -> None:
    said = json.loads(_core.parse_smdebug_config(SMDEBUG % "/tmp/x", "hook.json"))
    assert (said["out_dir"], said["export_tensorboard"], said["include_workers"]) == ("/tmp/x", True, "one")
    assert said["include_collections"] == ["w"] and said["reduction_config"] is None
    assert said["save_config"]["EVAL"]["save_interval"] == 2
    assert said["collections"]["w"]["save_config"]["EVAL"]["save_interval"] == 3
    assert said["collections"]["w"]["reduction_config"]["reductions"] == "min,l2_norm"
    with pytest.raises(ValueError, match='hook.json: HookParameters: unknown key "save_al"; did you mean "save_all"'):
        _core.parse_smdebug_config('{"HookParameters": {"save_al": 1}}', "hook.json")


def test_a_name_twice_in_a_step(run_dir: Path) -> None:
    with tw.Hook(run_dir, save_all=True, save=1) as hook:
        hook.save_tensor("x", 1.0)
        hook.save_tensor("x", 2.0)
        hook.step()
    assert tw.open(run_dir).tensor_names() == ["x", "x#1"]


def test_the_report_counts_what_was_kept_and_lost(run_dir: Path) -> None:
    hook = tw.Hook(run_dir, save_all=True, save=1, staging_bytes="1MiB")
    hook.save_tensor("small", np.zeros(8, np.float32))
    hook.save_tensor("large", np.zeros(1 << 20, np.float32))
    hook.save_scalar("loss", 0.5)
    hook.add_cost_ns(1_000_000)
    hook.step()
    hook.flush()
    report = hook.report()
    assert (report.steps, report.kept_tensors, report.kept_bytes, report.scalars) == (1, 1, 32, 1)
    assert report.on and report.training_thread_ns > 0
    assert report.bill.capture_ns >= 1_000_000 and report.bill.budget == 0
    (loss,) = report.losses
    assert (loss.cause, loss.count, loss.bytes) == ("too_large", 1, 4 << 20)
    assert "raise staging_bytes" in loss.first_message
    hook.close()


def test_a_closed_hook_counts_and_does_not_raise(run_dir: Path) -> None:
    hook = tw.Hook(run_dir, save_all=True, save=1)
    hook.close()
    hook.close()
    hook.save_tensor("x", np.zeros(3))
    hook.save_scalar("loss", 1.0)
    hook.step()
    hook.flush()
    report = hook.report()
    assert not report.on and report.off_reason == "closed"
    assert [loss.cause for loss in report.losses] == ["hook_off"]


def test_a_disabled_hook_counts_steps_only() -> None:
    hook = tw.Hook.disabled()
    assert not hook.wants("x") and not hook.wants_anything()
    hook.save_tensor("x", object())
    assert hook.step().global_step == 0 and hook.global_step == 1
    assert not hook.report().on


def test_an_exception_of_the_training_closes_the_run_and_goes_on(run_dir: Path) -> None:
    with pytest.raises(KeyError), tw.Hook(run_dir) as hook:
        hook.save_scalar("loss", 1.0)
        hook.step()
        raise KeyError("training")
    assert tw.open(run_dir).state is tw.RunState.COMPLETED


def test_from_environment_and_config(run_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config = tmp_path / "hook.json"
    config.write_text(json.dumps({"run_dir": str(run_dir), "save": {"save_interval": 3}}))
    monkeypatch.setenv("TRAINWARDEN_CONFIG", str(config))
    monkeypatch.setenv("TRAINWARDEN_RANK", "1")
    monkeypatch.setenv("TRAINWARDEN_WORLD_SIZE", "2")
    with tw.Hook.from_environment(save_all=True) as hook:
        assert (hook.run_dir, hook.rank, hook.world_size) == (str(run_dir), 1, 2)
        weight = hook.declare("w")
        hook.step()
        assert hook.next_wanted_step(weight) == 3


def test_from_config(run_dir: Path, tmp_path: Path) -> None:
    config = tmp_path / "hook.json"
    config.write_text(json.dumps({"run_dir": str(run_dir), "save_all": True, "save": {"save_interval": 3}}))
    with tw.Hook.from_config(config) as hook:
        assert hook.run_dir == str(run_dir) and hook.wants("x")
    config.write_text('{"save_al": true}')
    with pytest.raises(ValueError, match='hook.json: unknown key "save_al"; did you mean "save_all"'):
        tw.Hook.from_config(config)


def test_for_attach_watches_with_little(run_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRAINWARDEN_RUN_DIR", str(run_dir))
    with tw.Hook.for_attach() as hook:
        assert hook.report().bill.budget == 0.01
        assert hook.wants_collection("gradients") and hook.wants_collection("losses")


def test_switched_off_by_the_environment(run_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRAINWARDEN", "0")
    with tw.Hook(run_dir, save_all=True, save=1) as hook:
        hook.save_tensor("x", 1.0)
        hook.step()
    assert not run_dir.exists()


def test_a_hook_that_is_open_at_the_end_of_the_program_is_closed(run_dir: Path) -> None:
    program = f"""
import trainwarden
hook = trainwarden.Hook({str(run_dir)!r})
hook.save_scalar("loss", 1.0)
hook.step()
keep = hook.step  # alive until the interpreter goes
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert tw.open(run_dir).state is tw.RunState.COMPLETED


def test_a_stop_request_is_told(run_dir: Path) -> None:
    with tw.Hook(run_dir) as hook:
        hook.save_scalar("loss", 1.0)
        hook.step()
        hook.flush()
        request = {"type": "stop", "key": "k", "reason": "enough"}
        told = False

        @tw.rules.rule
        def fires(window: tw.rules.StepWindow) -> tw.rules.Verdict:
            return tw.rules.Verdict.fired("enough")

        import threading

        judged = threading.Thread(target=tw.rules.run, args=(run_dir, fires), kwargs={"on_fire": "stop"})
        judged.start()
        while judged.is_alive():
            told = hook.step().stop_requested or told
        judged.join()
        end = hook.step()
        assert end.stop_requested and "enough" in end.stop_reason, request
