"""The sections about classes: which are taken for which, and how that changes by round."""

from __future__ import annotations

from typing import Any

from .charts import COLOURS, grid, lines
from .section import Section
from .tables import Mark, behind, some, table

MAX_CLASSES = 30  # of a table; the JSON beside the page has all
_SCORES = ("precision", "recall", "f1")


def classes_sections(found: dict[str, Any]) -> list[Section]:
    sections = [_confusion(found), _evaluation(found), _recalls(found)]
    if found["roc"]:
        roc = found["roc"]
        curves = {
            f"AUC {roc['auc']:.4g}": (roc["false_positive_rate"], roc["true_positive_rate"]),
            "by chance": ([0.0, 1.0], [0.0, 1.0]),
        }
        picture = lines(
            f"ROC curve, AUC {roc['auc']:.4g}", curves, "false positive rate", "true positive rate", square=True
        )
        rows = list(zip(roc["thresholds"], roc["false_positive_rate"], roc["true_positive_rate"]))
        numbers = table("ROC", ["threshold", "false positive rate", "true positive rate"], some(rows))
        sections.append(Section("roc", "ROC curve", picture + behind("The numbers", numbers)))
    return sections


def _confusion(found: dict[str, Any]) -> Section:
    confusion = found["confusion"]
    shown = range(min(len(confusion), MAX_CLASSES))
    rows = [[f"class {row}", *(_count(confusion[row][column], row == column) for column in shown)] for row in shown]
    picture = grid(
        "Confusion matrix, each row of labels as parts of itself",
        [f"class {row}" for row in shown],
        [str(column) for column in shown],
        [_parts(confusion[row])[: len(shown)] for row in shown],
        "predicted class",
        "label",
    )
    words = (
        f"<p>Of {found['rows']} rows at round {found['step']}: what is labelled so (row) is predicted so (column).</p>"
    )
    more = f"<p>The first {MAX_CLASSES} of {len(confusion)} classes.</p>" if len(confusion) > MAX_CLASSES else ""
    head = ["labelled", *(f"predicted {column}" for column in shown)]
    return Section("confusion", "Confusion matrix", words + more + picture + table("How many rows", head, rows))


def _count(count: int, is_right: bool) -> Mark:
    return Mark(count, "right" if is_right else "" if count else "none")


def _parts(row: list[int]) -> list[Any]:
    total = sum(row)
    return [count / total if total else None for count in row]


def _evaluation(found: dict[str, Any]) -> Section:
    rows = [
        [f"class {each['class']}", *(each[score] for score in _SCORES), each["rows"]]
        for each in found["classes"][:MAX_CLASSES]
    ]
    rows += [
        [name, *(found[name][score] for score in _SCORES), found["rows"]] for name in ("macro", "micro", "weighted")
    ]
    words = (
        f"<p>Accuracy {found['accuracy']:.4g}. Macro is the mean of the classes, weighted that by their rows; "
        "micro counts all rows alike.</p>"
    )
    content = words + table(f"At round {found['step']}", ["", "precision", "recall", "F1", "rows"], rows)
    return Section("evaluation", "Precision, recall, F1", content)


def _recalls(found: dict[str, Any]) -> Section:
    steps, classes = found["recall_by_round"]["steps"], found["recall_by_round"]["classes"]
    names = {f"class {number}": values for number, values in classes.items()}
    words = "<p>The part of each class that is predicted as itself: the diagonal of the confusion matrix, by round.</p>"
    if len(names) <= COLOURS:
        picture = lines(
            "Accuracy of each class by round",
            {name: (steps, values) for name, values in names.items()},
            "round",
            "part",
        )
    else:
        rows = list(names)[:MAX_CLASSES]
        picture = grid("Accuracy of each class by round", rows, [str(step) for step in steps],
                       [names[name] for name in rows], "round", "class")  # fmt: skip
    shown = list(names)[:MAX_CLASSES]
    columns = some(list(zip(steps, *(names[name] for name in shown))))
    numbers = table("Accuracy of each class", ["round", *shown], columns)
    return Section("diagonal", "Accuracy of each class by round", words + picture + behind("The numbers", numbers))
