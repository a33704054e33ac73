"""Which pages a build leaves out: as the reader of patterns says that MkDocs has."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from pathspec.gitignore import GitIgnoreSpec

from mongo_tables.site.site_config import ExclusionPatterns

PARTS = st.sampled_from(["a", "b", "b.md", ".c", "templates", "a b"])
PATHS = st.lists(PARTS, min_size=1, max_size=3).map("/".join)
PLAIN = st.tuples(st.sampled_from(["", "/", "./"]), PATHS, st.sampled_from(["", "/", "//"])).map("".join)
LINES = PLAIN | st.sampled_from(
    ["", " ", "#a", "# b", "*", "?", "b*", "!a", "!.c", "!/templates/", "**/b.md", "[ab]", "\\a"]
)
TEXTS = st.lists(LINES, max_size=3).map("\n".join)
FOLDER = Path("docs")


@given(PATHS, TEXTS, TEXTS)
def test_what_is_left_out_without_the_reader_of_patterns_is_what_it_leaves_out(
    name: str, exclude: str, drafts: str
) -> None:
    excluded = GitIgnoreSpec.from_lines([".*", "/templates/", *exclude.splitlines()]).match_file(name)
    draft = GitIgnoreSpec.from_lines(drafts.splitlines()).match_file(name)
    assert ExclusionPatterns(exclude, drafts).has(FOLDER / name, FOLDER) == (excluded or draft)
