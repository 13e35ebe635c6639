"""The sections of the page, from the numbers of a report."""

from __future__ import annotations

from typing import Any
from xml.sax.saxutils import escape

from .charts import COLOURS, bars, grid, histogram, lines
from .classes_sections import classes_sections
from .section import Section
from .svg import number
from .tables import behind, some, table

TOP_FEATURES = 15
_KINDS = {
    "weight": "how often a feature splits",
    "split": "how often a feature splits",
    "gain": "what its splits gain",
    "cover": "how many rows its splits see",
    "total_gain": "what its splits gain, added up",
    "total_cover": "how many rows its splits see, added up",
}


def sections_of(document: dict[str, Any]) -> list[Section]:
    found = [_labels(document), _metrics(document), _importance(document)]
    if document.get("classification"):
        found += classes_sections(document["classification"])
    if document.get("regression"):
        found += _regression(document["regression"])
    if document["parameters"]:
        rows = sorted(document["parameters"].items())
        found.append(Section("parameters", "Hyper-parameters", table("As trained with", ["name", "value"], rows)))
    if document["missing"]:
        sentences = "".join(f'<p class="missing">{escape(sentence)}</p>' for sentence in document["missing"])
        found.append(Section("missing", "What the run does not hold", sentences))
    return [section for section in found if section.content]


def _labels(document: dict[str, Any]) -> Section:
    labels = document.get("labels")
    content = ""
    if labels and "classes" in labels:
        parts = {f"class {each['class']}": float(each["rows"]) for each in labels["classes"]}
        content = "<p>How many rows of the judged set belong to each class.</p>" + bars(
            "Rows of each class", parts, "{:.0f}"
        )
    elif labels:
        content = "<p>How the labels of the judged set are spread.</p>" + histogram(
            "Labels of the judged set", labels["edges"], labels["counts"], "label"
        )
        content += behind("The numbers", _bins("Labels", labels))
    return Section("labels", "Labels", content)


def _bins(caption: str, counted: dict[str, Any]) -> str:
    edges = counted["edges"]
    rows = [
        [f"{number(left)} to {number(right)}", count] for left, right, count in zip(edges, edges[1:], counted["counts"])
    ]
    return table(caption, ["from, to", "rows"], rows)


def _metrics(document: dict[str, Any]) -> Section:
    content = ""
    for entry in document["metrics"]:
        name, sets = entry["metric"], entry["sets"]
        direction = " <small>(lower is better)</small>" if entry["is_loss"] else ""
        content += f"<h3>{escape(name)}{direction}</h3>"
        shown = dict(list(sets.items())[:COLOURS])
        series = {data: (found["steps"], found["values"]) for data, found in shown.items()}
        content += lines(f"{name} by round, of {', '.join(shown)}", series, "round", name)
        steps = some(sorted({step for found in sets.values() for step in found["steps"]}))
        by_step = [dict(zip(found["steps"], found["values"])) for found in sets.values()]
        rows = [[step, *(values.get(step) for values in by_step)] for step in steps]
        content += behind("The numbers", table(f"{name} by round", ["round", *sets], rows))
    return Section("metrics", "Losses and metrics by round", content)


def _importance(document: dict[str, Any]) -> Section:
    step, content = document["importance"]["step"], ""
    for kind, parts in document["importance"]["kinds"].items():
        top = dict(list(parts.items())[:TOP_FEATURES])
        rest = len(parts) - len(top)
        content += f"<h3>{escape(kind)} <small>({_KINDS.get(kind, 'a part of the whole')})</small></h3>"
        content += bars(f"Importance of features by {kind}", top, "{:.3f}")
        if rest:
            share = sum(parts.values()) - sum(top.values())
            content += f"<p>The other {rest} features have {share:.3f} together.</p>"
            content += behind("All features", table(f"Importance by {kind}", ["feature", "part"], list(parts.items())))
    intro = f"<p>Parts of the whole, at round {step}; each kind adds up to 1.</p>" if content else ""
    return Section("importance", "Importance of features", intro + content)


def _regression(found: dict[str, Any]) -> list[Section]:
    names = {
        "mean_absolute_error": "mean absolute error",
        "root_mean_squared_error": "root of the mean squared error",
        "r2": "R²",
        "mean_residual": "mean residual",
    }
    rows = [[words, found[name]] for name, words in names.items()]
    residuals = (
        f"<p>Label minus prediction, of {found['rows']} rows at round {found['step']}.</p>"
        + histogram("Residuals", found["residuals"]["edges"], found["residuals"]["counts"], "label - prediction")
        + table("How far off", ["", "value"], rows)
        + behind("The numbers", _bins("Residuals", found["residuals"]))
    )
    by_round = found["error_by_round"]
    edges = by_round["edges"]
    labels = [f"{number(left)} to {number(right)}" for left, right in zip(edges, edges[1:])]
    columns = [str(step) for step in by_round["steps"]]
    errors = (
        "<p>The mean of |label - prediction| by bin of labels; the stronger the colour, the further off.</p>"
        + grid("Mean absolute error by bin of labels and round", labels, columns, by_round["bins"], "round", "label")
        + behind("The numbers", _by_round("Mean absolute error", labels, by_round["steps"], by_round["bins"]))
    )
    return [Section("residuals", "Residuals", residuals), Section("errors", "Error by label and round", errors)]


def _by_round(caption: str, labels: list[str], steps: list[int], values: list[list[Any]]) -> str:
    columns = some(list(zip(steps, *values)))
    return table(caption, ["round", *labels], columns)
