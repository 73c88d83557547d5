"""Pictures as bytes, and as pages hold them."""

from __future__ import annotations

import base64
import io

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from tacit.reports.palette import DPI


def finish_picture(figure: Figure, axes: Axes) -> bytes:
    """Return a picture of one panel as PNG, without the lines that frame it."""
    axes.spines[["top", "right"]].set_visible(False)
    buffer = io.BytesIO()
    figure.savefig(buffer, dpi=DPI // 2, metadata={"Software": None})
    return buffer.getvalue()


def encode_picture(picture: bytes) -> str:
    """Return a picture as a page holds it."""
    return base64.b64encode(picture).decode("ascii")
