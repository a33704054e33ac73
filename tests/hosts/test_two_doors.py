"""The plugin and the Markdown extension in one configuration show figures of one source."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.hosts.builds import build, sample

SECRET = "mongodb://me:hidden@localhost:1/bench"


@pytest.mark.parametrize(
    ("option", "other"), [("results", "other"), ("results", SECRET), ("pipelines", "docs/others")]
)
def test_a_site_whose_plugin_and_extension_read_different_sources_is_refused(
    option: str, other: str, tmp_path: Path
) -> None:
    site = sample(tmp_path)
    config = site / "mkdocs.yml"
    text = config.read_text(encoding="utf-8")
    for given, status in ((other, 1), ({"results": "./fixtures", "pipelines": "docs/pipelines/"}[option], 0)):
        listed = f"markdown_extensions:\n  - mongo-tables:\n      {option}: {given}\n"
        config.write_text(text.replace("markdown_extensions:\n", listed), encoding="utf-8")
        done = build(site)
        assert done.returncode == status, done.stderr
        assert (f"`{option}` of the plugin" in done.stderr) == bool(status)
        assert "hidden" not in done.stderr
        assert "Traceback" not in done.stderr
