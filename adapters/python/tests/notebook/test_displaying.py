"""How pictures show themselves: the forms that they offer, and in a notebook in place."""

from __future__ import annotations

import base64
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))

from attention_arrays import SCORES, TOKENS, scores
from pictures import Picture

import trainwarden
from trainwarden.errors import InvalidArgument, NotFound, OutOfRange
from trainwarden.notebook import AttentionHeadView
from trainwarden.notebook.drawing import readable

SEED_CELL = """
import sys
sys.path[:0] = [{here!r}]
from attention_arrays import SCORES, TOKENS, scores
from trainwarden.notebook import attention_head_view
view = attention_head_view.AttentionHeadView(TOKENS, scores(), step=0, layer=SCORES[0], n_tokens=4)
"""


def view(**options: Any) -> AttentionHeadView:
    return AttentionHeadView(TOKENS, scores(), **{"step": 0, "n_tokens": 4, **options})


def run_cells(*cells: str) -> list[list[dict[str, Any]]]:
    """Runs the cells in an IPython of their own; gives what each published."""
    pytest.importorskip("IPython")
    program = """
import json, sys
from IPython.core.interactiveshell import InteractiveShell
from IPython.core.displaypub import DisplayPublisher
published = []
class Publisher(DisplayPublisher):
    def publish(self, data, metadata=None, *, transient=None, update=False, **more):
        published[-1].append({"data": data, "id": (transient or {}).get("display_id"), "update": update})
class Shell(InteractiveShell):
    display_pub_class = Publisher
shell = Shell.instance()
for cell in json.load(sys.stdin):
    published.append([])
    result = shell.run_cell(cell, store_history=True)
    result.raise_error()
sys.stderr.write(json.dumps(published))
"""
    done = subprocess.run([sys.executable, "-c", program], input=json.dumps(cells), capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    published: list[list[dict[str, Any]]] = json.loads(done.stderr.splitlines()[-1])
    return published


HERE = str(Path(__file__).parent)


def test_the_old_constructor_shows_the_view_and_a_selection_changes_it_in_place() -> None:
    made, selected = run_cells(SEED_CELL.format(here=HERE), "view.select_head(1)")
    assert [each["update"] for each in made] == [False] and [each["update"] for each in selected] == [True]
    assert made[0]["id"] == selected[0]["id"] and made[0]["id"]
    assert "head 0 · step 0" in made[0]["data"]["text/plain"]
    assert "head 1 · step 0" in selected[0]["data"]["text/plain"]
    assert selected[0]["data"]["image/svg+xml"].startswith("<svg")


def test_the_last_line_of_the_cell_that_made_it_does_not_show_it_twice() -> None:
    made, again = run_cells(SEED_CELL.format(here=HERE) + "view", "view")
    assert len(made) == 1 and len(again) == 1 and not again[0]["update"]


def test_interactive_of_ipywidgets_takes_the_selectors() -> None:
    pytest.importorskip("ipywidgets")
    cells = [
        "from ipywidgets import interactive; import numpy as np",
        "chooser = interactive(view.select_head, head=np.arange(3))",
        "chooser.children[0].value = chooser.children[0].options[2]; chooser.update(); assert view.head == 2",
    ]
    *_, chosen = run_cells(SEED_CELL.format(here=HERE), *cells)
    assert any(each["update"] and "head 2" in each["data"]["text/plain"] for each in chosen)


def test_smdebug_offers_utils_inside_of_ipython_only() -> None:
    smdebug = pytest.importorskip("smdebug")
    cell = "import smdebug\nfrom utils import attention_head_view, neuron_view\nprint(neuron_view.NeuronView)"
    run_cells(cell)
    path = [str(Path(smdebug.__file__).parents[1])]
    program = f"import sys; sys.path[:0] = {path}; import smdebug; from utils import neuron_view"
    done = subprocess.run([sys.executable, "-P" if sys.version_info >= (3, 11) else "-s", "-c", program],
                          capture_output=True, text=True)  # fmt: skip
    assert "ModuleNotFoundError" in done.stderr


def test_a_users_own_utils_comes_first(tmp_path: Path) -> None:
    (tmp_path / "utils.py").write_text("mine = True")
    program = f"""
import sys
sys.path[:0] = [{str(tmp_path)!r}]
from trainwarden.notebook import seed_utils
seed_utils.offer(); seed_utils.offer()
assert sum(type(finder).__module__ == seed_utils.__name__ for finder in sys.meta_path) == 1
import utils
assert utils.mine
"""
    subprocess.run([sys.executable, "-c", program], check=True)


def test_outside_of_ipython_nothing_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    shown = view()
    shown.select_head(1)
    assert capsys.readouterr().out == "" and "head 1" in str(shown)


def test_what_cannot_be_shown_is_refused_and_the_view_stays() -> None:
    shown = view()
    before = shown.svg()
    for wrong in (
        lambda: shown.select_head(3),
        lambda: shown.select_head(-1),
        lambda: shown.select_step(2),
        lambda: shown.select_layer(2),
        lambda: shown.select_item(2),
    ):
        with pytest.raises(OutOfRange, match="expected|is there at the steps 0, 1, 5, not at step 2"):
            wrong()
    with pytest.raises(InvalidArgument, match="expected a layer, 'bertencoder0_transformer0_"):
        shown.select_layer("transformer0")
    assert shown.svg() == before
    shown.select_layer(np.int64(1))
    shown.select_step(np.int64(5))
    assert (shown.layers[shown.layer], shown.step) == (SCORES[1], 5)
    with pytest.raises(NotFound):
        shown.answers.ask("/runs/0000000000000000/attention/atlas?step=0")


def test_what_is_put_into_the_arrays_later_can_be_selected() -> None:
    tensors = scores()
    shown = AttentionHeadView(TOKENS, tensors, step=0)
    for name in SCORES:
        tensors[name][9] = tensors[name][5]
    shown.select_step(9)
    assert shown.steps == [0, 1, 5, 9]


def test_the_bundle_is_what_frontends_ask_for() -> None:
    shown = view()
    bundle = shown._repr_mimebundle_()
    assert {"text/plain", "image/svg+xml"} <= set(bundle)
    assert set(shown._repr_mimebundle_(include=["text/plain"])) == {"text/plain"}
    assert "image/svg+xml" not in shown._repr_mimebundle_(exclude=["image/svg+xml"])


def test_files(tmp_path: Path) -> None:
    shown = view()
    shown.snapshot(tmp_path / "head.svg")
    assert len(Picture((tmp_path / "head.svg").read_text()).lines()) == 16
    shown.snapshot(tmp_path / "head.txt")
    assert (tmp_path / "head.txt").read_text() == shown.text()
    with pytest.raises(InvalidArgument, match="ends in .svg or .txt"):
        shown.snapshot(tmp_path / "head.jpg")
    shown.to_html(tmp_path / "head.html")
    page = (tmp_path / "head.html").read_text()
    assert page.startswith("<!doctype html>")
    assert not re.search(r"""(src|href)=["']?(https?:)?//""", page)  # nothing from elsewhere


def test_names_and_tokens_are_shown_as_texts() -> None:
    hostile = [["<script>alert(1)</script>", "\x1b[31mred", "abc\u202edef", '"&'] + ["x" * 500] * 2] * 2
    shown = AttentionHeadView(hostile, {"</svg><script>": scores()[SCORES[0]]}, step=0)
    picture = Picture(shown.svg())  # is well formed
    assert "<script>alert(1)</script>" in picture.texts() and "\ufffd[31mred" in picture.texts()
    assert "<script" not in shown.svg() and "\x1b" not in shown.text() and "\u202e" not in shown.svg() + shown.text()
    assert max(len(text) for text in picture.texts()) <= 120
    assert readable("ordinary çà 漢字 ##ing") == "ordinary çà 漢字 ##ing"


def test_a_converted_notebook_shows_the_picture_without_scripts(tmp_path: Path) -> None:
    nbformat = pytest.importorskip("nbformat")
    nbconvert = pytest.importorskip("nbconvert")
    output = nbformat.v4.new_output("display_data", view()._repr_mimebundle_())
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("view", outputs=[output])])
    page, _ = nbconvert.HTMLExporter().from_notebook_node(notebook)
    without_scripts = re.sub(r"<script.*?</script>", "", page, flags=re.DOTALL)
    sources = re.findall(r'src="data:image/svg\+xml;base64,([^"]+)"', without_scripts)
    drawn = base64.b64decode(sources[0]).decode() if sources else without_scripts
    assert drawn.count("<line ") == 16 and "bertencoder0_transformer0" in drawn


def test_the_package_of_views_is_light() -> None:
    program = "import sys, trainwarden.notebook.seed_utils; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert not {"numpy", "IPython", "ipywidgets", "anywidget"} & set(done.stdout.split())
    assert trainwarden.__version__
