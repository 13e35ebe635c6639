"""Examination: what a diagnosis (docs/guide/diagnose.md) needs to know of a training, and captured tensors do not tell.

`examiner.Examiner` first. What is written, and when: docs/format/examination.md.
"""
