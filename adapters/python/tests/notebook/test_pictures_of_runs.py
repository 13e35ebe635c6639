"""A trial, a scalar and strips of images: what they show of a run."""

from __future__ import annotations

import math
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))

from pictures import Picture

import trainwarden
from trainwarden import rules
from trainwarden.errors import InvalidArgument, OutOfRange
from trainwarden.notebook import ImageStrip, ScalarPlot, TrialCard
from trainwarden.notebook.colours import gray_colours, magnitude_colours, signed_colours

STEPS = [0, 10, 20]


def kernels(step: int) -> np.ndarray:
    """Three kernels of two channels; what they hold tells kernel, channel and step."""
    kernel, channel = np.arange(3).reshape(3, 1, 1, 1), np.arange(2).reshape(1, 2, 1, 1)
    place = np.arange(4, dtype=np.float32).reshape(1, 1, 2, 2) / 10
    return (kernel + 10 * channel + step / 100 + place).astype(np.float32)


@pytest.fixture
def run(run_dir: Path) -> trainwarden.Trial:
    with trainwarden.Hook(run_dir, collections=[trainwarden.Collection("conv", include=["conv"])], save=1) as hook:
        for step in range(30):
            hook.set_mode("eval" if step % 10 == 9 else "train")
            hook.save_scalar("loss", math.nan if step == 7 else 1 / (step + 1))
            if step in STEPS:
                hook.save_tensor("conv0_weight", kernels(step))
            hook.step()
    return trainwarden.open(run_dir)


def test_a_trial_shows_how_the_run_stands(run: trainwarden.Trial) -> None:
    rules.run(run.path, ["LossNotDecreasing", "VanishingGradient"])
    bundle = run._repr_mimebundle_()
    text, texts = bundle["text/plain"], Picture(bundle["image/svg+xml"]).texts()
    assert text.startswith("Trial run: Completed\n")
    assert "30 steps (train 27, eval 3), the last complete one is 29" in text
    assert "conv 1" in text and "VanishingGradient NotApplicable" in text and "loss " in text
    assert "!" in text.splitlines()[3]  # the NaN in the loss
    assert any(each.startswith("30 steps (train 27, eval 3)") for each in texts)
    assert any(each.startswith("loss 0.03333") for each in texts)
    assert any("VanishingGradient NotApplicable" in each for each in texts)


def test_a_trial_of_smdebugs_shows_the_same_and_its_own_text(run: trainwarden.Trial) -> None:
    trials = pytest.importorskip("smdebug.trials")
    trial = trials.create_trial(run.path)
    bundle = trial._repr_mimebundle_()
    assert bundle["text/plain"] == repr(trial)
    assert bundle["image/svg+xml"] == run._repr_mimebundle_()["image/svg+xml"]
    assert set(trial._repr_mimebundle_(include=["image/svg+xml"])) == {"image/svg+xml"}


def test_a_running_trial_is_one(run_dir: Path) -> None:
    with trainwarden.Hook(run_dir, save=1) as hook:
        hook.save_scalar("loss", 0.5)
        hook.step()
        hook.flush()
        card = TrialCard(run_dir)
        assert "1 steps" in card.text() and ": InProgress" in card.text()
        hook.save_scalar("loss", 0.25)
        hook.step()
        hook.flush()
        card.refresh()
        assert "2 steps" in card.text() and "0.25" in card.text()


def test_a_scalar_shows_its_line_and_where_it_was_no_number(run: trainwarden.Trial) -> None:
    bundle = run.tensor("loss")._repr_mimebundle_()
    assert "0.03333 at step 29, lowest 0.03333, 1 not finite" in bundle["text/plain"]
    picture = Picture(bundle["image/svg+xml"])
    marks = [element for element in picture.root.iter() if element.tag.endswith("title")]
    assert [mark.text for mark in marks if "nan" in (mark.text or "")] == ["loss: nan at step 7"]
    paths = [element.attrib["d"] for element in picture.root.iter() if element.tag.endswith("path")]
    assert [path.count("L") + 1 for path in paths] == [7, 22]  # broken where the NaN is


def test_a_number_that_was_saved_whole_shows_its_line(run_dir: Path) -> None:
    with trainwarden.Hook(run_dir, save=1) as hook:
        for step in range(3):
            hook.save_tensor("CrossEntropyLoss_output_0", np.float32(3 - step))
            hook.step()
    bundle = trainwarden.open(run_dir).tensor("CrossEntropyLoss_output_0")._repr_mimebundle_()
    assert "1 at step 2, lowest 1" in bundle["text/plain"]
    picture = Picture(bundle["image/svg+xml"])
    (path,) = [element.attrib["d"] for element in picture.root.iter() if element.tag.endswith("path")]
    assert path.count("L") + 1 == 3


def test_a_tensor_shows_what_it_is_and_its_statistics(run: trainwarden.Trial) -> None:
    bundle = run.tensor("conv0_weight")._repr_mimebundle_()
    lines = bundle["text/plain"].splitlines()
    assert lines[0] == "conv0_weight: float32, 3 × 2 × 2 × 2, 3 steps, 0 to 20"
    assert lines[1].split() == ["step", "min", "mean", "max", "std", "not", "finite"]
    values = kernels(10)
    means = [line.split()[2] for line in lines[2:]]
    assert [line.split()[0] for line in lines[2:]] == ["0", "10", "20"] and means[1] == f"{values.mean():.4g}"
    texts = [element.text for element in Picture(bundle["image/svg+xml"]).root.iter() if element.tag.endswith("text")]
    assert lines[0] in texts and means[2] in texts
    assert set(run.tensor("conv0_weight")._repr_mimebundle_(include=["text/plain"])) == {"text/plain"}


def test_many_steps_of_a_tensor_are_shown_in_eight_rows_and_what_is_no_number_is_counted(run_dir: Path) -> None:
    with trainwarden.Hook(run_dir, collections=[trainwarden.Collection("some", include=["weight"])], save=1) as hook:
        for step in range(20):
            hook.save_tensor("weight", np.array([1.0, math.nan, math.inf], np.float32))
            hook.step()
    lines = trainwarden.open(run_dir).tensor("weight")._repr_mimebundle_()["text/plain"].splitlines()[2:]
    assert len(lines) <= 8 and lines[-1].split()[0] == "19"
    assert {line.split()[-1] for line in lines} == {"2"}


def test_texts_show_themselves_whatever_they_say(run_dir: Path) -> None:
    with trainwarden.Hook(run_dir, collections=[trainwarden.Collection("some", include=["tokens"])], save=1) as hook:
        hook.save_tensor("tokens", ["<script>", "a\u202eb", *(f"t{i}" for i in range(20))])
        hook.step()
    bundle = trainwarden.open(run_dir).tensor("tokens")._repr_mimebundle_()
    assert "step 0: <script> a\ufffdb t0" in bundle["text/plain"] and "t19" not in bundle["text/plain"]
    assert "<script>" not in bundle["image/svg+xml"]


def test_lines_go_through_the_values(run: trainwarden.Trial) -> None:
    plot = ScalarPlot(run, "loss", mode="eval")
    steps, values = plot.data()["loss"]
    assert steps.tolist() == [9, 19, 29] and values.tolist() == [1 / 10, 1 / 20, 1 / 30]
    picture = Picture(plot.svg())
    (path,) = [element.attrib["d"] for element in picture.root.iter() if element.tag.endswith("path")]
    points = [tuple(map(float, point.strip("ML").split())) for point in path.replace(" L", "|").split("|")]
    low, high = points[2][1], points[0][1]
    middle = low + (high - low) * (1 / 20 - 1 / 30) / (1 / 10 - 1 / 30)
    assert high < low and points[1][1] == pytest.approx(middle, abs=0.02)
    assert points[1][0] == pytest.approx((points[0][0] + points[2][0]) / 2)


def test_no_peak_of_a_long_series_is_lost(run_dir: Path) -> None:
    with trainwarden.Hook(run_dir, save=1) as hook:
        for step in range(5000):
            hook.save_scalar("loss", 100.0 if step == 3210 else math.inf if step == 1000 else 1.0 + step % 2)
            hook.step()
            if step % 500 == 0:
                hook.flush()  # nothing is dropped
    plot = ScalarPlot(run_dir, "loss", log=True)
    steps, values = plot.data()["loss"]
    assert len(steps) > 2500 and (np.diff(steps) >= 0).all() and np.nanmax(values) == 100.0
    picture = Picture(plot.svg())
    paths = [element.attrib["d"] for element in picture.root.iter() if element.tag.endswith("path")]
    pieces = [point for path in paths for point in path.replace(" L", "|").split("|")]
    points = [tuple(map(float, piece.strip("ML").split())) for piece in pieces]
    assert len(paths) == 2 and len(points) < 3200  # broken where the infinity is
    top = min(y for _, y in points)
    assert [y for _, y in points].count(top) == 1  # one bucket's highest
    titles = [element.text or "" for element in picture.root.iter() if element.tag.endswith("title")]
    (mark,) = [title for title in titles if title.startswith("loss: not finite in the steps from here on at step ")]
    assert 1000 - 8 < int(mark.split()[-1]) <= 1000  # where its bucket begins
    assert "2 at step 4999, lowest 1, 1 not finite" in plot.text()


def test_a_tensor_that_is_no_scalar_is_drawn_by_its_mean(run: trainwarden.Trial) -> None:
    plot = ScalarPlot(run, "conv0_weight")
    _, values = plot.data()["conv0_weight"]
    assert np.allclose(values, [kernels(step).mean() for step in STEPS])
    assert "mean " in plot.text()


def test_scalars_that_are_not_there(run: trainwarden.Trial) -> None:
    with pytest.raises(OutOfRange, match="'loss' has no values in mode predict; there are modes train, eval"):
        ScalarPlot(run, "loss", mode="predict")
    with pytest.raises(InvalidArgument, match="expected 1 to 7 names, got 0"):
        ScalarPlot(run, [])
    with pytest.raises(InvalidArgument, match="expected a trial or the path of a run, got int"):
        ScalarPlot(3, "loss")


def test_a_strip_has_a_row_a_kernel_and_a_column_a_step(run: trainwarden.Trial) -> None:
    strip = ImageStrip(run, "conv0_weight", over="step")
    expected = np.stack([[kernels(step)[kernel, 0] for step in STEPS] for kernel in range(3)])
    assert np.array_equal(strip.data()["images"], expected) and strip.steps == STEPS
    images = Picture(strip.svg()).images()
    assert [image.note for image in images[:3]] == ["row 0, step 0", "row 1, step 0", "row 2, step 0"]
    low, high = float(expected.min()), float(expected.max())
    for image in images:
        row, step = (int(word) for word in image.note.replace(",", "").split()[1::2])
        assert np.array_equal(image.pixels, magnitude_colours(kernels(step)[row, 0], low, high))
    assert len({image.x for image in images}) == len({image.y for image in images}) == 3
    assert f"one scale: {low:.4g} to {high:.4g}" in strip.svg()


def test_a_strip_with_a_scale_for_each_row_prints_them(run: trainwarden.Trial) -> None:
    strip = ImageStrip(run, "conv0_weight", scale="strip", colours="gray", channel=1, rows=[2], steps=[10, 20])
    images = Picture(strip.svg()).images()
    both = np.stack([kernels(10)[2, 1], kernels(20)[2, 1]])
    assert np.array_equal(images[0].pixels, gray_colours(both[0], both.min(), both.max()))
    assert f"{both.min():.4g} to {both.max():.4g}" in Picture(strip.svg()).texts()
    alone = Picture(ImageStrip(run, "conv0_weight", scale="image", colours="gray").svg()).images()
    assert all(image.pixels.min() == 0 and image.pixels.max() == 255 for image in alone)


def test_negative_numbers_have_colours_of_their_own(run_dir: Path) -> None:
    values = np.array([[-1.0, 0.5], [0.0, math.nan]], dtype=np.float32)
    with trainwarden.Hook(run_dir, save=1, include_collections=["weights"]) as hook:
        hook.save_tensor("kernel_weight", values)
        hook.step()
    strip = ImageStrip(run_dir, "kernel_weight")
    (image,) = Picture(strip.svg()).images()
    assert np.array_equal(image.pixels, signed_colours(values, 1.0))
    assert "-1 to 1" in strip.text() and "1 numbers are not finite" in strip.text()


def test_strips_that_cannot_be(run: trainwarden.Trial) -> None:
    with pytest.raises(OutOfRange, match="expected rows from 0 to 2 of 'conv0_weight', got 3"):
        ImageStrip(run, "conv0_weight", rows=[3])
    with pytest.raises(OutOfRange, match="expected a channel from 0 to 1, got 2"):
        ImageStrip(run, "conv0_weight", channel=2)
    with pytest.raises(InvalidArgument, match="expected scale to be 'shared' or 'strip' or 'image', got 'mine'"):
        ImageStrip(run, "conv0_weight", scale="mine")
