"""What ``mkdocs build --strict`` promises: the warnings of the linter fail the build, and its notes do not."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.hosts.inprocess import CONFIG, ROWS, built, table, write
from tests.judged import asked

UNSORTED = '[{"$group": {"_id": "$a", "a": {"$first": "$a"}, "n": {"$sum": "$n"}}}]'
TIED = '[{"$sort": {"kind": 1}}, {"$limit": 1}]'
NOTED = '[{"$match": {"n": {"$gt": 0}}}]'


def _site(folder: Path, pipeline: str) -> Path:
    page = f"# Home\n\n{table('one', pipeline=pipeline)}\n"
    rows = ROWS.replace("}", ', "kind": "k"}')
    files = {"mkdocs.yml": f"{CONFIG}plugins: [mongo-tables]\n", "fixtures/r/r.jsonl": rows}
    return write(folder, {**files, "docs/index.md": page})


@pytest.mark.parametrize(("pipeline", "rule"), [(UNSORTED, "MT416"), (TIED, "MT419")])
def test_a_strict_build_fails_on_what_the_linter_warns_of_and_a_plain_one_tells_it(
    pipeline: str, rule: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    site = _site(tmp_path, pipeline)
    plain = built(site)
    assert plain.done
    strict = built(site, strict=True)
    assert not strict.done
    assert strict.warnings == plain.warnings
    assert any(rule in line for line in strict.warnings), strict.log


def test_a_strict_build_of_a_site_without_warnings_is_done(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    site = _site(tmp_path, '[{"$sort": {"_id": 1}}]')
    outcome = built(site, strict=True)
    assert outcome.done, outcome.log


def test_notes_of_the_linter_fail_no_strict_build_and_may_be_ignored_in_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    site = _site(tmp_path, NOTED)
    assert built(site, strict=True).done
    page = site / "docs/index.md"
    silenced = page.read_text(encoding="utf-8").replace('"id"', '"ignore": {"RULE": "why"}, "id"')
    page.write_text(silenced.replace("RULE", _note_of(site)), encoding="utf-8")
    outcome = built(site, strict=True)
    assert outcome.done, outcome.log


def _note_of(site: Path) -> str:
    from mongo_tables.directives.pipelines import SharedPipelines
    from mongo_tables.site.checks import lint_site
    from mongo_tables.site.pages import read_page

    text = (site / "docs/index.md").read_text(encoding="utf-8")
    page = read_page(text, "docs/index.md", SharedPipelines(site / "docs/pipelines"))
    found = lint_site(asked(site / "fixtures", page).figures.judge)
    (rule,) = {each.rule for each in found}
    assert all(each.severity == "note" for each in found)
    return rule
