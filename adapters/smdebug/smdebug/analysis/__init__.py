"""Helpers for who analyses a run."""
