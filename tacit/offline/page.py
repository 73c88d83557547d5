"""What the pages of `tacit diagnose` share, for tables and for text."""

from __future__ import annotations

import base64
import io

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from tacit.experiments.report import page_template
from tacit.reports.palette import DPI

__all__ = ["ANSWERS", "encode_picture", "finish_picture", "page_template"]

ANSWERS = {
    "works": "What people said in these logs can be turned into rewards.",
    "works with caution": "What people said can be turned into rewards, with the reservations below.",
    "cannot work": "What people said in these logs cannot be turned into rewards as they stand.",
}
"""The verdicts, and what they mean to somebody who has not read the paper."""


def finish_picture(figure: Figure, axes: Axes) -> bytes:
    """Return a picture as PNG, without the lines that frame it."""
    axes.spines[["top", "right"]].set_visible(False)
    buffer = io.BytesIO()
    figure.savefig(buffer, dpi=DPI // 2, metadata={"Software": None})
    return buffer.getvalue()


def encode_picture(picture: bytes) -> str:
    """Return a picture as a page holds it."""
    return base64.b64encode(picture).decode("ascii")
