"""A chart's file in an `<img>`, as a code host shows it: light on a light page and dark on a dark one, and legible always."""

from __future__ import annotations

import re
from base64 import b64encode
from pathlib import Path

import pytest
from playwright.sync_api import Page

from mongo_tables.render.charts.drawing import draw_chart
from mongo_tables.render.charts.plot import Plot
from mongo_tables.render.charts.svg_file import chart_file, read_drawing_look

ROWS = [{"x": f"case {x}", "y": x, "s": s} for s in ("one", "two") for x in (4, 5, 6)]
PLOT = Plot(mark="bar", x="x", y=("y",), series="s", name="Speed")
GROUNDS = {"light": "#ffffff", "dark": "#0d1117"}
WIDTH = """async () => {
    const image = document.querySelector("img");
    await image.decode();
    return image.naturalWidth;
}"""
COLOURS = """async (png) => {
    const image = new Image();
    image.src = "data:image/png;base64," + png;
    await image.decode();
    const canvas = new OffscreenCanvas(image.width, image.height).getContext("2d");
    canvas.drawImage(image, 0, 0);
    const { data } = canvas.getImageData(0, 0, image.width, image.height), counts = new Map();
    for (let at = 0; at < data.length; at += 4) {
        const colour = "#" + [0, 1, 2].map((part) => data[at + part].toString(16).padStart(2, "0")).join("");
        counts.set(colour, (counts.get(colour) || 0) + 1);
    }
    return [...counts].filter(([, count]) => count > 100).map(([colour]) => colour);
}"""
"""The colours that more than 100 pixels of a picture have."""


@pytest.fixture
def shown(fresh: Page, tmp_path: Path):
    """What a page with this `color-scheme` shows of a chart on a system that prefers this one: all colours of pixels."""
    (tmp_path / "README.speed.svg").write_text(chart_file(draw_chart(PLOT, ROWS)), encoding="utf-8")

    def show(system: str, page: str) -> set[str]:
        scheme = f' style="color-scheme: {page}"' if page else ""
        html = f'<!doctype html><html{scheme}><body style="margin:0"><img alt="Speed" src="README.speed.svg">'
        (tmp_path / "page.html").write_text(html)
        fresh.emulate_media(color_scheme=system)  # type: ignore[arg-type]
        fresh.goto((tmp_path / "page.html").as_uri())
        assert fresh.evaluate(WIDTH) == 664
        picture = fresh.locator("img").screenshot()
        return set(fresh.evaluate(COLOURS, b64encode(picture).decode()))

    return show


@pytest.mark.parametrize("system", ["light", "dark"])
@pytest.mark.parametrize("page", ["light", "dark", ""])
def test_a_chart_has_the_colours_of_the_page_else_of_the_system(system: str, page: str, shown) -> None:
    scheme = page or system
    assert {GROUNDS[scheme], *_colours(scheme)[:2]} <= shown(system, page)


def test_every_colour_of_a_set_stands_out_from_its_ground() -> None:
    for scheme, ground in GROUNDS.items():
        assert len(_colours(scheme)) == 6
        assert all(_contrast(colour, ground) >= 4.5 for colour in _colours(scheme))


def _colours(scheme: str) -> list[str]:
    light, dark, _ = read_drawing_look()
    return re.findall("#[0-9a-f]{6}", light if scheme == "light" else dark)


def _contrast(one: str, other: str) -> float:
    """https://www.w3.org/TR/WCAG22/#dfn-contrast-ratio"""

    def luminance(colour: str) -> float:
        parts = [int(part, 16) / 255 for part in re.findall("..", colour[1:])]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))

    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)
