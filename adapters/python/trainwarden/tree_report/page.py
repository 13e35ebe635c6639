"""The page of a report: one HTML file with its pictures in it, without a script."""

from __future__ import annotations

from typing import Any
from xml.sax.saxutils import escape

from ..notebook.drawing import readable
from .sections import sections_of
from .style import STYLE

MARK = '<meta name="generator" content="trainwarden tree report">'


def page_of(document: dict[str, Any]) -> str:
    """Of what numbers_of() gives."""
    sections = sections_of(document)
    title = escape(f"Boosted trees: {readable(document['run'], 100)}")
    links = "".join(f'<li><a href="#{section.identity}">{escape(section.title)}</a></li>' for section in sections)
    body = "".join(
        f'<section aria-labelledby="{section.identity}"><h2 id="{section.identity}">{escape(section.title)}</h2>'
        f"{section.content}</section>"
        for section in sections
    )
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8">{MARK}'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="color-scheme" content="light dark">'
        f"<title>{title}</title><style>{STYLE}</style></head><body>"
        f'<header><h1>{title}</h1>{_summary(document)}<nav aria-label="Sections"><ul>{links}</ul></nav></header>'
        f"<main>{body}</main></body></html>\n"
    )


def _summary(document: dict[str, Any]) -> str:
    facts = {
        "State": document["state"],
        "Rounds": str(document["rounds"]),
        "Objective": document["objective"] or "not known",
    }
    judged: dict[str, Any] = document.get("classification") or document.get("regression") or {}
    if judged:
        facts["Judged"] = f"{judged['rows']} rows at round {judged['step']}"
    if document.get("classification"):
        facts["Accuracy"] = f"{judged['accuracy']:.4g}"
        if judged["roc"]:
            facts["AUC"] = f"{judged['roc']['auc']:.4g}"
    if document.get("regression"):
        facts["RMSE"] = f"{judged['root_mean_squared_error']:.4g}"
        facts["MAE"] = f"{judged['mean_absolute_error']:.4g}"
    pairs = "".join(
        f"<div><dt>{name}</dt><dd>{escape(readable(value, 60))}</dd></div>" for name, value in facts.items()
    )
    return f"<dl>{pairs}</dl>"
