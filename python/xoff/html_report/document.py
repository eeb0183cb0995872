"""The page around its data: one HTML document without any other file."""

from __future__ import annotations

import base64
import hashlib
import json
from functools import cache
from importlib.resources import files
from typing import Any

ASSETS = "report_assets"
STYLES = ("vendor/uPlot-1.6.32.min.css", "report.css")
SCRIPTS = (
    "vendor/uPlot-1.6.32.iife.min.js",
    *("format.js", "dom.js", "theme.js", "series.js", "chart.js", "legend.js"),
    *("overview.js", "slowdown.js", "completion.js", "buffers.js", "pauses.js", "links.js"),
    *("rates.js", "topology.js", "fabric.js", "player.js", "live.js", "main.js"),
)
"""Scripts in the order in which they run: each uses only those before it."""

_ESCAPES = str.maketrans(
    {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}
)


def as_json(data: Any) -> str:
    """Return data as JSON that ends no element and opens none inside an HTML document."""
    text = json.dumps(data, allow_nan=False, separators=(",", ":"), ensure_ascii=False)
    return text.translate(_ESCAPES).encode("utf-8", "backslashreplace").decode("utf-8")


@cache
def _asset(name: str) -> str:
    return (files("xoff") / ASSETS / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return f"'sha256-{base64.b64encode(digest).decode('ascii')}'"


@cache
def policy(live: bool) -> str:
    """Return the content security policy: the page's own scripts and styles, and no network.

    A live page may ask its own server for data.
    """
    scripts = " ".join(_hash(_asset(name)) for name in SCRIPTS)
    styles = " ".join(_hash(_asset(name)) for name in STYLES)
    network = "'self'" if live else "'none'"
    return (
        f"default-src 'none'; script-src {scripts}; style-src {styles}; connect-src {network}; "
        "base-uri 'none'; form-action 'none'"
    )


def html(data: Any) -> str:
    """Return the page of finished runs with its data, styles and scripts."""
    return page(as_json(data))


def page(data_json: str, live: bool = False) -> str:
    """Return the page around data that `as_json` has written."""
    parts = {
        "policy": policy(live),
        "styles": "\n".join(f"<style>{_asset(name)}</style>" for name in STYLES),
        "licence": _asset("vendor/uPlot-LICENSE"),
        "scripts": "\n".join(f"<script>{_asset(name)}</script>" for name in SCRIPTS),
        # Last, as it is text of users and may look like a place to fill.
        "data": data_json,
    }
    whole = _asset("report.html")
    for name, text in parts.items():
        whole = whole.replace("{{" + name + "}}", text)
    return whole
