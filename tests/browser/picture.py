"""The picture in the README: one figure of the built site, as a browser shows it in light colours.

    python -m tests.browser.picture

builds the site and writes ``docs/assets/result.png`` anew. Run it when the figures of that page change.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

from tests.browser.browsing import FLAGS, ROOT, Served, chromium, served
from tests.hosts.builds import build

PICTURE = ROOT / "docs" / "assets" / "result.png"
PAGE, FIGURE = "experiments/insert-docsize/", "#insert-docsize-speed"
WIDTH, HEIGHT = 1000, 1400


def take(page: Page, site: Served, picture: Path) -> None:
    """Write the figure as a PNG."""
    page.set_viewport_size({"width": WIDTH, "height": HEIGHT})
    page.emulate_media(color_scheme="light")
    page.goto(site.url + PAGE)
    page.locator(FIGURE).screenshot(path=picture, animations="disabled")


def main() -> int:
    """Build the site and renew the picture; gives the exit status of the build."""
    with tempfile.TemporaryDirectory(prefix="picture-") as folder:
        done = build(ROOT, "--quiet", "--site-dir", folder)
        if done.returncode == 0:
            with served(Path(folder)) as site, sync_playwright() as playwright:
                browser = playwright.chromium.launch(executable_path=chromium(), args=FLAGS)
                take(browser.new_page(), site, PICTURE)
    sys.stderr.write(done.stderr)
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
