"""Pages: one self-contained file each, no network; every template stands beside the code that fills it.

A template names another by its path in the package: `{% extends "reports/page.html.j2" %}`.
"""

from __future__ import annotations

from jinja2 import Environment, PackageLoader, StrictUndefined, Template

from tacit.reports.intervals import show_interval

DARK = (0, 84, 140)
"""The colour of a full heat-map cell; an empty one is white."""


def page_template(package: str, name: str) -> Template:
    """Return a template of a package of Tacit, with escaping on and the filters that pages share.

    >>> page_template("tacit.reports", "style.html.j2").render().strip()[:7]
    '<style>'
    """
    root, _, inside = package.partition(".")
    environment = Environment(
        loader=PackageLoader(root, "."),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"interval": show_interval, "heat": heat}
    return environment.get_template("/".join([*inside.split("."), name]))


def heat(value: float) -> str:
    """Return the style of a heat-map cell for a share in [0, 1].

    >>> heat(0.0)
    'background:#ffffff;color:#111'
    """
    part = min(max(value, 0.0), 1.0)
    channels = [round(255 + part * (dark - 255)) for dark in DARK]
    background = "".join(f"{channel:02x}" for channel in channels)
    return f"background:#{background};color:{'#fff' if part > 0.5 else '#111'}"
