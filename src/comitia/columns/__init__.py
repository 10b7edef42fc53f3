"""Frames as people have them, turned into numbers: what each column is, and how it is encoded."""

from comitia.columns._encoder import TableEncoder

__all__ = ["TableEncoder"]
