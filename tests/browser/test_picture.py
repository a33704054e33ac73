"""The picture in the README: small, light, and made again by a command."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import Page

from tests.browser.browsing import ROOT, Served
from tests.browser.picture import PICTURE, take

LARGEST = 150_000


def size(picture: Path) -> tuple[int, int]:
    """Width and height of a PNG, from its header: https://www.w3.org/TR/png/#11IHDR."""
    content = picture.read_bytes()
    assert content.startswith(b"\x89PNG\r\n\x1a\n")
    return int.from_bytes(content[16:20], "big"), int.from_bytes(content[20:24], "big")


def test_the_readme_shows_the_picture_and_says_what_is_on_it() -> None:
    readme = (ROOT / "README.md").read_text("utf-8")
    assert f"]({PICTURE.relative_to(ROOT).as_posix()})" in readme
    assert "![]" not in readme
    assert PICTURE.stat().st_size < LARGEST


def test_the_picture_can_be_made_anew(page: Page, site: Served, tmp_path: Path) -> None:
    new = tmp_path / "new.png"
    take(page, site, new)
    assert 10_000 < new.stat().st_size < LARGEST
    # Fonts differ from machine to machine: about the size of the one in the README, not its bytes.
    assert all(0.6 < one / other < 1.6 for one, other in zip(size(new), size(PICTURE), strict=True))
