"""Typed figures become values where one cell says just that; whoever reads the page sees the same words as before."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import markdown
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from mongo_tables.comments.model import END_MARKER, begin_marker
from mongo_tables.pages.build import Build
from mongo_tables.pages.inplace import compose_in_place, region_findings, stale_findings
from mongo_tables.pages.keptanswers import KeptAnswers
from mongo_tables.pages.markdown import render_markdown
from mongo_tables.pages.model import Page
from mongo_tables.pages.prose.fixing import Fixed, fix_page
from mongo_tables.pages.prose.unsupported import prose_findings
from mongo_tables.pages.reading import read_page
from tests.pages.prose.telling import list_quoted

ROWS = [
    {"_id": 1, "name": "one", "n": 1, "ops": 4200.4, "wait": 1.9, "mib": 65.4987},
    {"_id": 2, "name": "two | --> `x` <b>", "n": 8, "ops": 30100, "wait": 2.44, "mib": 92.5},
    {"_id": 3, "name": "three", "n": 16, "ops": 41821, "wait": 12.5, "mib": 115.1},
]
BODY = {
    "collection": "runs",
    "pipeline": [{"$sort": {"n": 1}}],
    "columns": ["name", "n", "ops", "wait", "mib"],
    "headers": ["Case", "Threads", "Speed (inserts/s)", "Wait (ms)", "MiB/s"],
    "format": {"mib": {"decimals": 1, "unit": "MiB/s"}},
}


def table(**keys: Any) -> str:
    return f"<!-- MONGO_TABLE: {json.dumps({**BODY, **keys})} -->"


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory):
    folder = tmp_path_factory.mktemp("fixtures")
    (folder / "runs").mkdir()
    (folder / "runs" / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    opened = KeptAnswers(str(folder))
    yield opened
    opened.close()


def read(text: str, file: str = "page.md") -> Page:
    return read_page(text, file, lambda _: None)


def asked(text: str, source: KeptAnswers) -> tuple[Page, Build]:
    page = read(text)
    build = Build(source, [page])
    build.ask()
    return page, build


def fixed(text: str, source: KeptAnswers, *, in_place: bool = True) -> Fixed:
    page, build = asked(text, source)
    return fix_page(page, build, read, in_place=in_place)


def of(prose: str, source: KeptAnswers, *, in_place: bool = True, **keys: Any) -> str:
    """What becomes of a sentence above the table."""
    done = fixed(f"{prose}\n\n{table(**{'id': 'speed', **keys})}\n", source, in_place=in_place)
    return done.text.partition("\n\n<!-- MONGO_TABLE")[0]


def comment(column: str, where: dict[str, Any], **keys: Any) -> str:
    body = {"table": "speed", "column": column, "where": where, **keys}
    return f"<!-- MONGO_VALUE: {json.dumps(body)} -->"


def test_a_figure_that_one_cell_says_becomes_its_value(source: KeptAnswers) -> None:
    thousands = {"decimals": 0, "thousands": True}
    assert of("Three reaches 41,821 inserts/s now.", source, in_place=False) == (
        f"Three reaches {comment('ops', {'name': 'three'}, format=thousands)} inserts/s now."
    )
    three, one = (comment("wait", {"name": name}) for name in ("three", "one"))
    assert of("Three waits 12.5 ms.", source, in_place=False) == f"Three waits {three} ms."
    assert of("With `one` it waits 1.9 ms.", source, in_place=False) == f"With `one` it waits {one} ms."


def test_a_figure_with_the_unit_of_its_column_is_written_by_the_format_of_the_column(
    source: KeptAnswers,
) -> None:
    assert (
        of("`one` does 65.5 MiB/s.", source, in_place=False)
        == f"`one` does {comment('mib', {'name': 'one'})}."
    )
    form = {"decimals": 2}
    assert of("`one` does 65.50 MiB/s.", source, in_place=False) == (
        f"`one` does {comment('mib', {'name': 'one'}, format=form)} MiB/s."
    )


def test_a_time_in_the_unit_that_fits_it_may_have_other_decimals_than_its_cell(source: KeptAnswers) -> None:
    keys: dict[str, Any] = {"columns": ["name", "ops"], "headers": ["Case", "Time"]}
    keys["format"] = {"ops": {"duration": "ms"}}  # 4.20 s, 30.1 s and 41.8 s
    assert of("`one` takes 4.20 s.", source, in_place=False, **keys) == (
        f"`one` takes {comment('ops', {'name': 'one'})}."
    )
    assert of("`one` takes 4.20 s/op.", source, in_place=False, **keys) == (
        f"`one` takes {comment('ops', {'name': 'one'})}/op."
    )
    form = {"duration": "ms", "decimals": 4}
    assert of("`one` takes 4.2004 s.", source, in_place=False, **keys) == (
        f"`one` takes {comment('ops', {'name': 'one'}, format=form)}."
    )


@pytest.mark.parametrize(
    ("prose", "other"),
    [
        ("One waits 12.5 ms and three waits 1.9 ms.", "one"),
        ("It is 12.5 ms for one and 1.9 ms for three.", "one"),
        ("One (12.5 ms) is slower than three (1.9 ms).", "one"),
        ("`one` waits 12.5 ms and `three` waits 1.9 ms.", "one"),
        ("`one` waits 12.5 ms, `three` 1.9 ms.", "one"),
        ("- `one`: 12.5 ms\n- `three`: 1.9 ms", "one"),
        ("[`one`](https://example.com/three) waits 12.5 ms.", "one"),
        ("With 8 threads it waits 12.5 ms.", "two | --> `x` <b>"),
        ("| Case | wait |\n| - | - |\n| `one` | 12.5 ms |", "one"),
        ("| Case | wait |\n| - | - |\n| one | 12.5 ms |", "one"),
        ("| Case | wait |\n| - | - |\n| another library | 12.5 ms |", "another library"),
    ],
)
def test_a_figure_beside_the_name_of_another_row_stays_as_it_is_typed(
    prose: str, other: str, source: KeptAnswers
) -> None:
    done = fixed(f"{prose}\n\n{table(id='speed')}\n", source)
    assert "12.5" in done.text.partition("<!-- MONGO_TABLE")[0].replace("-->12.5", "")
    assert any(f"names `{other}`" in one.message for one in done.left)


@pytest.mark.parametrize(
    ("prose", "reason"),
    [
        ("`three` waits less than 12.5 ms.", "it bounds what a cell has"),
        ("`three` is never slower than **12.5 ms**.", "it bounds what a cell has"),
        ("All wait up to 12.5 ms.", "it bounds what a cell has"),
        ("`three` ends within 12.5 ms.", "it bounds what a cell has"),
        ("`three` waits ≤ 12.5 ms.", "it bounds what a cell has"),
        ("Last year `three` waited 12.5 ms.", "its words speak of another time"),
        ("Version 2 of `three` waited 12.5 ms.", "its words speak of another time"),
        ("Three years ago it was 12.5 ms.", "its words speak of another time"),
        ("In release 1.4 `three` waited 12.5 ms.", "its words speak of another time"),
        ("`three` came down from 12.5 ms.", "its words speak of another time"),
        ("The slowest waits 12.5 ms.", "its words speak of several rows"),
        ("All of them wait 12.5 ms.", "its words speak of several rows"),
        ("Our target for `three` is 12.5 ms.", "its words speak of what is wanted"),
        ("`three` should wait 12.5 ms.", "its words speak of what is wanted"),
        ("`three` waits 12.5 ms or less.", "it bounds what a cell has"),
        ("`three` waits 12.5 ms ± 2 ms.", "it bounds what a cell has"),
    ],
)
def test_a_bound_and_a_figure_of_another_time_stay_as_they_are_typed(
    prose: str, reason: str, source: KeptAnswers
) -> None:
    done = fixed(f"{prose}\n\n{table(id='speed')}\n", source)
    assert prose in done.text
    assert [one.message.partition(": ")[2] for one in done.left] == [reason]


@pytest.mark.parametrize(
    ("prose", "other"),
    [
        ("For `dumps`, ujson takes 3.94 ms.", "dumps"),
        ("The dumps of ujson take 3.94 ms.", "dumps"),
        ("| Library | dumps |\n| - | - |\n| ujson | 3.94 ms |", "dumps"),
        ("`test_loads[ujson]` takes 3.94 ms.", ""),
    ],
)
def test_what_another_benchmark_times_is_the_name_of_another_row(
    prose: str, other: str, tmp_path: Path
) -> None:
    times = {
        ("dumps", "orjson"): 0.92,
        ("loads", "orjson"): 2.31,
        ("dumps", "ujson"): 2.71,
        ("loads", "ujson"): 3.94,
    }
    rows = [
        {"_id": n, "name": f"test_{timed}[{library}]", "library": library, "wait": time}
        for n, ((timed, library), time) in enumerate(times.items())
    ]
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    opened = KeptAnswers(str(tmp_path))
    shown = table(
        id="speed",
        pipeline=[{"$sort": {"_id": 1}}],
        columns=["name", "library", "wait"],
        headers=["Test", "Library", "ms"],
        format={},
    )
    done = fixed(f"{prose}\n\n{shown}\n", opened)
    assert [one.message.rpartition("names ")[2] for one in done.left] == ([f"`{other}`"] if other else [])
    assert ("MONGO_VALUE" in done.text) == (not other)
    opened.close()


@pytest.mark.parametrize(
    ("prose", "other"),
    [
        ("- four: 12.5 ms", "four"),
        ("1. **four** – 12.5 ms", "four"),
        ("* [four](https://example.com): 12.5 ms", "four"),
        ("- four 12.5 ms", "four"),
        ("four: 12.5 ms", "four"),
        ("silver four: 12.5 ms", "silver four"),
        ("`one/four/n=16` waits 12.5 ms.", "one/four/n=16"),
        ("[four](https://example.com) waits 12.5 ms.", "four"),
        ("`four --with many long options` waits 12.5 ms.", "four --with many long options"),
        ("`four` waits 12.5 ms.", "four"),
        ("`four` is quick, at 12.5 ms.", "four"),
        ("It is 12.5 ms for `four`.", "four"),
        ("`four` waits 12.5 ms and `one` 1.9 ms.", "four"),
        ("Unlike `three`, `four` waits 12.5 ms.", "four"),
    ],
)
def test_a_figure_of_a_name_that_no_row_has_stays_as_it_is_typed(
    prose: str, other: str, source: KeptAnswers
) -> None:
    done = fixed(f"{prose}\n\n{table(id='speed')}\n", source)
    assert "12.5 ms" in done.text
    assert f"the sentence names `{other}`" in done.left[0].message


@pytest.mark.parametrize(
    "prose",
    [
        "- three: 12.5 ms",
        "With `threads = 16` it waits 12.5 ms.",
        "The `wait` of `three` is 12.5 ms.",
        "- wait of three: 12.5 ms",
        "`four` is another one. `three` waits 12.5 ms.",
    ],
)
def test_a_figure_beside_code_that_names_nothing_else_becomes_a_value(
    prose: str, source: KeptAnswers
) -> None:
    assert comment("wait", {"name": "three"}) in of(prose, source, in_place=False)


NAMED: dict[str, Any] = {
    "pipeline": [
        {"$sort": {"n": 1}},
        {"$set": {"name": {"$concat": ["lib-", {"$toString": "$n"}]}}},
    ]
}


def test_of_two_rows_in_a_clause_each_figure_is_of_the_row_that_its_words_name(source: KeptAnswers) -> None:
    first, last = (comment("wait", {"name": name}) for name in ("lib-1", "lib-16"))
    assert of("lib-1 waits 1.9 ms and lib-16 waits 12.5 ms.", source, in_place=False, **NAMED) == (
        f"lib-1 waits {first} ms and lib-16 waits {last} ms."
    )
    assert of("It is 1.9 ms for lib-1 and 12.5 ms for lib-16.", source, in_place=False, **NAMED) == (
        f"It is {first} ms for lib-1 and {last} ms for lib-16."
    )


def test_names_in_code_and_in_lists_hold_their_figures_as_the_check_has_them(source: KeptAnswers) -> None:
    names = "[`lib-1`](https://example.com/lib-8) and **lib-16**"
    first, last = (comment("wait", {"name": name}) for name in ("lib-1", "lib-16"))
    assert of(f"{names} wait 1.9 ms and **12.5 ms**.", source, in_place=False, **NAMED) == (
        f"{names} wait {first} ms and **{last} ms**."
    )
    mixed_up = f"{names} wait 12.5 ms and **1.9 ms**."
    assert of(mixed_up, source, **NAMED) == mixed_up


def test_in_a_page_for_a_code_host_the_value_stands_behind_its_comment(source: KeptAnswers) -> None:
    text = of("Three waits 12.5 ms.", source)
    assert re.fullmatch(
        r"Three waits <!-- MONGO_VALUE: \{.*\} --><!-- mongo-tables: begin [0-9a-f]{16} -->12\.5<!-- mongo-tables: end --> ms\.",
        text,
    )


def test_a_row_is_selected_by_its_names_written_so_that_no_comment_cell_or_code_ends(
    source: KeptAnswers,
) -> None:
    text = of("With 8 threads it waits 2.44 ms.", source)
    assert '"where": {"name": "two \\u007c \\u002d-\\u003e \\u0060x\\u0060 \\u003cb\\u003e"}' in text
    assert [one.rule for one in region_findings(read(text))] == []


def test_a_table_without_an_id_gets_that_of_its_anchor(source: KeptAnswers) -> None:
    text = f"Three waits 12.5 ms, `one` 1.9 ms.\n\n{table(title='All of it')}\n"
    done = fixed(text, source)
    assert '<!-- MONGO_TABLE: {"id": "table-all-of-it", "collection"' in done.text
    assert done.text.count('"id"') == 1
    assert done.text.count('{"table": "table-all-of-it"') == 2


def test_an_id_that_another_table_has_is_not_taken(source: KeptAnswers) -> None:
    other = json.dumps({**BODY, "id": "table-all", "pipeline": [{"$match": {"_id": 1}}], "columns": ["name"], "headers": ["C"], "format": {}})  # fmt: skip
    done = fixed(f"Three waits 12.5 ms.\n\n{table(title='All')}\n\n<!-- MONGO_TABLE: {other} -->\n", source)
    assert '{"id": "table-all-2", "collection"' in done.text


def test_a_multi_line_comment_in_a_quote_keeps_its_lines(source: KeptAnswers) -> None:
    written = table().replace('{"collection"', '{\n>   "collection"', 1)
    done = fixed(f"> Three waits 12.5 ms.\n>\n> {written}\n", source)
    assert '{\n>   "id": "table-case-threads-speed-inserts-s-wait-ms-mib-s", "collection"' in done.text


def test_a_value_has_the_first_word_of_its_table_s_comment(source: KeptAnswers) -> None:
    done = fixed(f"Three waits 12.5 ms.\n\n{table(id='speed')}\n".replace("MONGO_", "RESULT_"), source)
    assert "Three waits <!-- RESULT_VALUE: {" in done.text


@pytest.mark.parametrize(
    ("prose", "reason"),
    [
        ("We reach 41,900 inserts/s.", "its cell says 41821"),  # a rounded figure
        ("We reach about 42 k inserts/s.", "its cell says 41821"),
        ("It waits 0.0125 s.", "its cell says 12.5"),  # another unit
        ("12.5 ms it is with three.", "begins with a comment"),
        ("Three waits\n12.5 ms.", "begins with a comment"),
        ("It is 9.95 times as fast.", "no cell has it"),
        ("Three does 4,200 inserts/s.", "the sentence names `three`"),  # the cell is that of one
        ("At a wait of 4,200 inserts/s.", "the sentence names `Wait`"),  # the cell is one of speeds
    ],
)
def test_what_cannot_be_written_alike_stays_and_is_told(prose: str, reason: str, source: KeptAnswers) -> None:
    text = f"{prose}\n\n{table(id='speed')}\n"
    done = fixed(text, source)
    assert done.text == text
    (told,) = done.left
    assert (told.rule, told.severity, reason in told.message) == ("MT328", "note", True), told
    assert told.line == 1 + prose.startswith("Three waits\n")


@pytest.mark.parametrize(
    ("prose", "reason"),
    [
        ("It waits 12.5 ms.", "nothing beside it names that row"),
        ("Three is quick. It waits 12.5 ms.", "nothing beside it names that row"),
        ("Of three a fork waits 12.5 ms.", "`fork` may say what no cell does"),
        ("`three.load` waits 12.5 ms.", "the row is not called `three.load`"),
        ("To load three takes 12.5 ms.", "`load` beside the name may make it something else"),
        ("The median of three is 12.5 ms.", "`median` is another measure"),
        ("On Windows, three waits 12.5 ms.", "`Windows` may say what no cell does"),
        ("At noon, so to speak, three waits 12.5 ms.", "before it, `noon` may say what no cell does"),
        ("Three waits 12.5 ms, in debug mode.", "behind it, `debug` may say what no cell does"),
        ("## History\n\nThree waits 12.5 ms.\n\n## Results", "near it, `History` may say what no cell does"),
        ("Is it 12.5 ms with three, or with another?", "its sentence asks"),
        ("| Case | Start |\n| - | - |\n| three | 12.5 ms |", "`Start` may say what no cell does"),
        (
            "| Case | wait |\n| - | - |\n| three (PyPy) | 12.5 ms |",
            "its first cell is not the name of that row",
        ),
    ],
)
def test_a_figure_whose_words_may_say_more_than_the_cell_stays_with_the_comment_for_it(
    prose: str, reason: str, source: KeptAnswers
) -> None:
    text = f"{prose}\n\n{table(id='speed')}\n"
    done = fixed(text, source)
    assert done.text == text
    (told,) = done.left
    assert told.message.endswith(f"`wait` of row 3 of table `speed` has it, but {reason}")
    assert told.hint == f"if it is that of the cell, write {comment('wait', {'name': 'three'})}"


def test_a_row_that_is_called_as_a_word_of_any_sentence_is_named_in_code(source: KeptAnswers) -> None:
    assert "MONGO_VALUE" in of("`one` does 4,200 inserts/s.", source)
    assert "MONGO_VALUE" not in of("One does 4,200 inserts/s.", source)


def test_a_figure_in_emphasis_becomes_a_value_in_emphasis(source: KeptAnswers) -> None:
    value = comment("wait", {"name": "three"})
    assert of("Three waits **12.5** ms.", source, in_place=False) == f"Three waits **{value}** ms."
    assert of("Three waits **12.5 ms**.", source, in_place=False) == f"Three waits **{value} ms**."


def test_a_figure_in_html_becomes_a_value_too(source: KeptAnswers) -> None:
    assert "MONGO_VALUE" in of('<p align="center">\n  Three waits <b>12.5 ms</b>.\n</p>', source)


def test_a_figure_of_several_cells_is_told_and_never_replaced(source: KeptAnswers) -> None:
    text = f"It waits 12.5 ms.\n\n{table(id='a')}\n\n{table(id='b')}\n"
    done = fixed(text, source)
    assert done.text == text
    (told,) = done.left
    assert told.message.startswith(
        "`12.5 ms` stays as it is typed: 2 cells have it: `wait` of row 3 of table `a`, "
    )


@pytest.mark.parametrize(
    "prose",
    [
        "It waits 77 ms.",  # check --prose complains of it
        "It was 2026, with MongoDB 8.0.4.",
        "See [77 ms](https://example.com/12.5).",
        "Run `sleep 12.5 ms`.",
        "```\n12.5 ms\n```",
        "<script>\nwait('12.5 ms')\n</script>",
        "About 99,000,000 dollars.",
        "It waits ±1.9 ms.",
        "It is 8 threads.",
    ],
)
def test_what_no_cell_says_and_what_is_no_prose_stays(prose: str, source: KeptAnswers) -> None:
    text = f"{prose}\n\n{table(id='speed')}\n"
    done = fixed(text, source)
    if "](" not in prose:
        assert done.text == text
    assert "sleep 12.5" in done.text or "sleep" not in prose
    assert "example.com/12.5" in done.text or "example" not in prose
    assert done.left == ()


def test_a_figure_in_a_caption_or_behind_a_comment_stays(source: KeptAnswers) -> None:
    written = of("Three waits 12.5 ms.", source)
    text = f"{written}\n\n{table(id='speed', caption='At most 12.5 ms.')}\n"
    assert fixed(text, source).text == text


@pytest.mark.parametrize("in_place", [True, False])
def test_a_number_that_has_become_a_value_still_names_its_row(source: KeptAnswers, in_place: bool) -> None:
    value = comment("n", {"name": "three"}) + (f"{begin_marker('16')}16{END_MARKER}" if in_place else "")
    for number in ("16", value):
        page, build = asked(f"It is {number} threads with 4,200 inserts/s.\n\n{table(id='speed')}\n", source)
        assert list_quoted(prose_findings([page], build.answers)) == ["4,200 inserts/s"]


def test_a_page_without_tables_is_left_alone(source: KeptAnswers) -> None:
    assert fixed("It waits 12.5 ms.\n", source) == Fixed(
        read("It waits 12.5 ms.\n"), "It waits 12.5 ms.\n", ()
    )


GITHUB = MarkdownIt("commonmark").enable("table")
_NUMBERS = ["4,200", "4200", "4,200.4", "41,821", "41821", "30,100", "30100", "12.5", "12.50", "2.4", "2.44", "1.9", "2",
            "65.5", "115.1", "42", "16", "8", "55,000", "10", "3", "2026"]  # fmt: skip
_UNITS = [" inserts/s", " inserts per second", " ms", "ms", " MiB/s", " threads", "", " %", " times", "k"]
_AROUND = ["It is ", "about ", "**", "*", "_", "\n", "\n\n", "> ", "- ", "1. ", "# ", "| a | b |\n| - | - |\n| x | ", " | y |\n", "`",
           "[", "](x)", "<p>", "</p>\n", ".", ", ", "(", ")", "\r\n", "<b>", "</b>", "\\", "up to ", "    ", "!", "~~", "=="]  # fmt: skip
_FIGURES = st.tuples(st.sampled_from(_NUMBERS), st.sampled_from(_UNITS)).map("".join)
_PROSE = st.lists(
    st.one_of(st.sampled_from(_AROUND), _FIGURES, st.sampled_from(["word", " "])), max_size=16
).map("".join)


def visible(html: str) -> str:
    return re.sub(r"<!--.*?-->|</?span>", "", html, flags=re.DOTALL)


@settings(max_examples=300, deadline=None)
@given(prose=_PROSE, in_place=st.booleans())
@example("**12.5** ms and a**12.5** ms", True)
@example("_12.5_ ms [12.5 ms](x)", True)
@example("> 12.5 ms\n12.5 ms", True)
@example("4,200 inserts/sIt is 65.5 MiB/s", False)
@example("4,200_4,200 inserts/s", False)
@example("16 threads 4,200 inserts/s", False)
def test_a_fix_never_changes_what_readers_see(source: KeptAnswers, prose: str, in_place: bool) -> None:
    text = f"{prose}\n\n{table(id='speed')}\n"
    page, build = asked(text, source)
    done = fix_page(page, build, read, in_place=in_place)
    again, built = asked(done.text, source)
    # As text, byte for byte, whatever writes the values.
    assert render_markdown(again, built.answers, built.tables) == render_markdown(
        page, build.answers, build.tables
    )
    # As a code host shows it.
    if in_place:
        assert visible(GITHUB.render(done.text)) == visible(GITHUB.render(text))
    # Fixed once, and clean.
    assert len(again.specs) == len(page.specs) + done.text.count("<!-- MONGO_VALUE")
    assert all(again.specs)
    assert fix_page(again, built, read, in_place=in_place).text == done.text
    if in_place:
        composed = compose_in_place(again, built.answers, built.tables)
        assert [one.line for one in stale_findings(composed)] == [one.comment.line for one in again.tables]
        assert region_findings(again) == []
    before = {one.message for one in prose_findings([page], build.answers)}
    assert {one.message for one in prose_findings([again], built.answers)} <= before


@settings(max_examples=100, deadline=None)
@given(prose=_PROSE)
def test_a_site_shows_the_same_as_before(source: KeptAnswers, prose: str) -> None:
    """The extension, which makes the page of a site, with the sentence and with the value in its place."""
    text = f"{prose}\n\n{table(id='speed', provenance=False)}\n"
    done = fixed(text, source, in_place=False)
    shown = [_on_a_site(one, source) for one in (text, done.text)]
    assert re.sub(r'<span class="mongo-value"[^>]*>([^<]*)</span>', r"\1", shown[1]) == shown[0]


def _on_a_site(text: str, source: KeptAnswers) -> str:
    from mongo_tables.pages.figures import figures_of
    from mongo_tables.pages.placeholders import swap_tokens, tokens, with_tokens

    page, build = asked(text, source)
    figures = dict(zip(tokens(page), figures_of(page, build, lambda name, text: ""), strict=True))
    html, lost = swap_tokens(
        markdown.markdown(with_tokens(page), extensions=["tables", "attr_list"]), figures
    )
    assert [token for token in lost if page.specs] == []
    return html
