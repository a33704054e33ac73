"""Rows that were measured in blocks: ratio and interval in the cell, four verdicts told apart, faults with their place."""

from __future__ import annotations

import csv
from datetime import date
from typing import Any

import pytest
from bson.decimal128 import Decimal128

from mongo_tables.directives.specs import TableSpec
from mongo_tables.findings.finding import Finding
from mongo_tables.render.columns import columns_of
from mongo_tables.render.conclusions import (
    conclusion_of,
    mention_few_requests,
    notes_on_references,
    words_of,
)
from mongo_tables.render.downloads import csv_text
from mongo_tables.render.html import figure_html
from mongo_tables.render.pipe_table import pipe_table
from mongo_tables.results.verdicts import judge
from mongo_tables.site.row_faults import row_findings
from tests.hosts.builds import read
from tests.render.specs import table


def concluded(ratio: Any, low: Any, high: Any, against: str = "none", **keys: Any) -> dict[str, Any]:
    found = {
        "against": against,
        "ratio": ratio,
        "low": low,
        "high": high,
        "p": 0.01,
        "blocks": 20,
        "margin": 0.1,
    }
    if isinstance(low, float) and isinstance(high, float):
        found["verdict"] = judge(low, high)
    return {**found, **keys}


ROWS: list[dict[str, Any]] = [
    {"x": "none", "v": 100, "c": concluded(1.01, 0.97, 1.05, "itself")},
    {"x": "one", "v": 111, "c": concluded(1.12, 1.08, 1.17)},
    {"x": "two", "v": 79, "c": concluded(0.8, 0.751, 0.852)},
    {"x": "four", "v": 101, "c": concluded(1.002, 0.961, 1.048)},
    {"x": "eight", "v": 103, "c": concluded(1.03, 0.84, 1.26)},
    {"x": "paced", "v": 50, "c": None},
]


def spec(**baseline: Any) -> TableSpec:
    settings = {"row": 1, "column": "v", "comparison": "c", **baseline}
    return table("x", "v", headers=["Indexes", "Speed"], baseline=settings)


def compared(**baseline: Any) -> list[str]:
    return [row[-1] for row in read(figure_html(spec(**baseline), ROWS)).tables[0][1:]]


def test_the_reference_is_marked_where_a_column_compares_other_rows_with_it() -> None:
    shown = table("x", "c", headers=["Indexes", "Compared with none"])
    assert figure_html(shown, ROWS).count('class="mongo-table__baseline"') == 1
    assert "mongo-table__baseline" not in figure_html(shown, [ROWS[0], {**ROWS[0], "x": "again"}])


def faults(rows: list[dict[str, Any]], **baseline: Any) -> list[Finding]:
    shown = spec(**baseline)
    return row_findings(shown, {}, {shown.query.key: rows}, (), date(2026, 1, 1))


def changed(number: int, **keys: Any) -> list[dict[str, Any]]:
    return [{**row, "c": {**row["c"], **keys}} if at == number else row for at, row in enumerate(ROWS)]


def test_a_cell_has_the_ratio_of_the_blocks_with_its_interval_and_each_verdict_is_told_apart() -> None:
    assert compared() == [
        "baseline",
        "+12\u00a0% (+8 to +17)",
        "−20\u00a0% (−25 to −15)",
        "0\u00a0% (−4 to +5) =",
        "+3\u00a0% (−16 to +26) ?",
        "n/a",
    ]


def test_or_as_a_ratio() -> None:
    assert compared(**{"as": "ratio"})[1:5] == [
        "1.12 (1.08–1.17)",
        "0.80 (0.75–0.85)",
        "1.00 (0.96–1.05) =",
        "1.03 (0.84–1.26) ?",
    ]


@pytest.mark.parametrize(
    ("conclusion", "text"),
    [
        (concluded(1.02, 1.004, 1.036), "+2.0\u00a0% (+0.4 to +3.6)"),
        (concluded(1.004, 1.002, 1.006), "+0.4\u00a0% (+0.2 to +0.6)"),
        (concluded(1.0, 1.0, 1.0), "0.000\u00a0% (0.000 to 0.000) ="),
        (concluded(11.5, 9.2, 14.1), "+1050\u00a0% (+820 to +1310)"),
        (concluded(1.3, 0.0, float("inf"), verdict="not known"), "+30\u00a0% ?"),
        (concluded(1.3, None, None, verdict="not known", blocks=1), "+30\u00a0% ?"),
        (concluded(None, 0.0, float("inf"), verdict="not known", blocks=0), "n/a ?"),
        (concluded(Decimal128("1.12"), 1.08, 1.17), "+12\u00a0% (+8 to +17)"),
    ],
)
def test_no_end_of_an_interval_that_leaves_no_difference_out_looks_as_if_it_did_not(
    conclusion: dict[str, Any], text: str
) -> None:
    rows = [ROWS[0], {"x": "one", "v": 5, "c": conclusion}]
    assert read(figure_html(spec(), rows)).tables[0][2][-1] == text


def of_campaigns(*each: tuple[float, float, float]) -> dict[str, Any]:
    ratio, low, high = 1.3, min(low for _, low, _ in each), max(high for _, _, high in each)
    told = [{"ratio": one, "low": low, "high": high, "blocks": 10} for one, low, high in each]
    return concluded(ratio, low, high, count=len(each), each=told)


def test_a_cell_has_the_ratio_of_each_campaign_where_their_intervals_do_not_touch() -> None:
    apart, touching = (
        of_campaigns((1.12, 1.1, 1.14), (1.5, 1.4, 1.6)),
        of_campaigns((1.2, 1.1, 1.3), (1.3, 1.25, 1.35)),
    )
    rows = [ROWS[0], {"x": "one", "v": 5, "c": apart}, {"x": "two", "v": 6, "c": touching}]
    shown = read(figure_html(spec(), rows))
    assert [row[-1] for row in shown.tables[0][2:]] == [
        "+12 or +50\u00a0% (+10 to +60)",
        "+30\u00a0% (+10 to +35)",
    ]
    assert (
        "One row has the ratio of each campaign, because the intervals of the campaigns do not overlap"
        in figure_html(spec(), rows)
    )
    assert "the ratio of each campaign" not in figure_html(spec(), [rows[0], rows[2]])


def test_a_conclusion_that_rests_on_few_requests_says_so() -> None:
    few = {**concluded(0.8, 0.751, 0.852), "few_requests": True}
    assert words_of(conclusion_of(few)) == "20 % slower (15 to 25 %; based on few requests)"
    assert words_of(conclusion_of({**few, "few_requests": False})) == "20 % slower (15 to 25 %)"
    assert mention_few_requests("It is as fast.") == "It is as fast (based on few requests)."
    assert (
        mention_few_requests("It is slower (15 to 25 %).")
        == "It is slower (15 to 25 %; based on few requests)."
    )


def test_rows_sort_by_the_ratio() -> None:
    cells = [
        line for line in figure_html(spec(), ROWS).splitlines() if "data-v" in line and "\u00a0% (" in line
    ]
    shown = [float(cell.partition('data-v="')[2].partition('"')[0]) for cell in cells]
    assert shown == pytest.approx([12, -20, 0.2, 3])


def test_a_column_of_comparisons_sorts_by_their_ratios_and_its_file_has_numbers() -> None:
    shown = table("x", "c", headers=["Indexes", "Compared"])
    rows = [ROWS[2], ROWS[1], {"x": "many", "c": concluded(0.0387, 0.0226, 0.0719)}, ROWS[5]]
    cells = [line for line in figure_html(shown, rows).splitlines() if "data-v" in line]
    assert [float(cell.partition('data-v="')[2].partition('"')[0]) for cell in cells] == [0.8, 1.12, 0.0387]
    head, *lines = csv.reader(csv_text(columns_of(shown, rows)).splitlines())
    assert head[1:] == ["Compared", "Compared, interval from", "Compared, interval to", "Compared, verdict"]
    assert lines[0][1:] == ["0.8", "0.751", "0.852", "slower"]
    assert lines[3][1:] == ["", "", "", ""]


def test_a_comparison_has_the_link_of_its_column_and_a_missing_one_has_none() -> None:
    shown = figure_html(table("x", "c", format={"c": {"link": "runs/{x}"}}), ROWS)
    assert [row["x"] for row in ROWS if f'href="runs/{row["x"]}"' in shown] == [
        row["x"] for row in ROWS if row["c"]
    ]


def test_who_hears_the_page_is_told_in_words_what_a_sign_says() -> None:
    html = figure_html(spec(), ROWS)
    assert html.count('<span role="img"') == 2
    assert 'aria-label="no difference larger than 5\u00a0%, 20 blocks"' in html
    assert (
        'aria-label="between 16\u00a0% slower and 26\u00a0% faster, 20 blocks; judged on its own, a difference below 22\u00a0% could not have been '
        'seen"' in html
    )


def test_notes_say_what_was_compared_what_could_be_seen_and_what_is_excluded() -> None:
    first, alike, unknown = pipe_table(spec(), ROWS)[-5::2]
    assert first == (
        "_Speed against the baseline in the same block, over 20 blocks, with 95 % intervals; where they are widest, a "
        "difference below 22 %, judged on its own, could not have been seen. The baseline against itself, measured again in each block: "
        "+1 % (-3 to +5)._"
    )
    assert alike == "_= no difference larger than 10 %; differences below -4 % and above +5 % are excluded._"
    assert unknown == (
        "_? not known: there may be a difference or none; differences below -16 % and above +26 % are excluded._"
    )


@pytest.mark.parametrize(
    ("counts", "said"),
    [
        ((2, 4), "with the range of the campaigns' 95 % intervals, from the lowest end to the highest."),
        ((5, 6), "with 95 % intervals."),
        (
            (2, 5),
            "with 95 % intervals from 5 campaigns on, with fewer the range of the campaigns' 95 % intervals, from the "
            "lowest end to the highest.",
        ),
    ],
)
def test_a_range_of_a_few_campaigns_is_not_called_an_interval(counts: tuple[int, int], said: str) -> None:
    first, *others = ROWS[:3]
    rows = [first, *({**row, "c": {**row["c"], "count": n}} for row, n in zip(others, counts, strict=True))]
    assert f"of {counts[0]} to {counts[1]} campaigns, {said} The baseline" in pipe_table(spec(), rows)[-1]


def test_a_column_of_conclusions_says_what_the_reference_is_compared_with() -> None:
    shown = table("x", "c", headers=["Indexes", "Compared"])
    lines = pipe_table(shown, ROWS[:3])
    assert lines[2].split(" | ")[1].rstrip(" |") == "noise -3 to +5 %"
    assert lines[-1] == "_The reference is measured twice in each block, and compared with itself._"


def test_a_reference_that_differs_from_itself_says_what_that_means_for_the_others() -> None:
    rows = [{"x": "none", "c": concluded(1.03, 1.02, 1.05, "itself", verdict="faster")}, *ROWS[1:3]]
    lines = pipe_table(table("x", "c", headers=["Indexes", "Compared"]), rows)
    assert lines[2].split(" | ")[1].rstrip(" |") == "noise +2 to +5 %"
    assert lines[-1].endswith(
        "It came out 3 % faster (2 to 5 %), though nothing differs: differences this small mean nothing here._"
    )


def test_every_notation_has_signs_and_notes() -> None:
    for lines in (pipe_table(spec(), ROWS), [figure_html(spec(), ROWS)]):
        text = "\n".join(lines).replace("\u00a0", " ").replace("−", "-")
        assert "+12 % (+8 to +17)" in text
        assert "differences below -16 % and above +26 % are excluded" in text


def test_a_note_stands_only_where_its_sign_does() -> None:
    html = figure_html(spec(), ROWS[:3])
    assert html.count("mongo-table__note") == 1
    assert "mongo-table__note" not in figure_html(spec(), ROWS[:1])


def test_a_baseline_that_differs_from_itself_is_told() -> None:
    rows = [{**ROWS[0], "c": concluded(1.05, 1.02, 1.08, "itself")}, *ROWS[1:]]
    note = "+5\u00a0% (+2 to +8), although both are the same, so differences this small mean nothing in this table."
    assert note in figure_html(spec(), rows)


def test_a_baseline_that_was_measured_once_in_each_block_is_said_nothing_of() -> None:
    once = concluded(None, 0.0, float("inf"), "itself", verdict="not known", blocks=0)
    rows = [{**ROWS[0], "c": once}, *ROWS[1:]]
    assert faults(rows) == []
    assert "against itself" not in figure_html(spec(), rows)


def test_an_interval_that_many_rows_bring_by_chance_is_explained() -> None:
    rows = [*ROWS[:2], {"x": "two", "v": 9, "c": concluded(1.2, 1.01, 1.41, verdict="not known")}]
    assert faults(rows) == []
    assert "among so many rows, some intervals show a difference by chance" in figure_html(spec(), rows)


def test_files_have_the_interval_and_the_verdict_in_columns_of_their_own() -> None:
    head, base, *others = csv.reader(csv_text(columns_of(spec(header="Change"), ROWS)).splitlines())
    assert head[2:] == [
        "Change (%)",
        "Change, interval from (%)",
        "Change, interval to (%)",
        "Change, verdict",
    ]
    assert base[2:] == ["0", "", "", ""]
    assert [row[5] for row in others] == ["faster", "slower", "no difference", "not known", ""]
    assert [float(end) for end in others[0][2:5]] == pytest.approx([12, 8, 17])


def test_sound_rows_have_no_fault() -> None:
    assert faults(ROWS) == []


@pytest.mark.parametrize(
    ("rows", "said", "place"),
    [
        (
            [*ROWS[:4], {"x": "y", "v": 1}, {"x": "z", "v": 1}],
            "2 of 6 rows have no comparison in `c`: row 5",
            "comparison",
        ),
        (
            [*ROWS[:5], {"x": "y", "v": 1, "c": 1.25}],
            "1 of 6 rows have no comparison in `c`: row 6 has 1.25",
            "comparison",
        ),
        (changed(1, verdict="much faster"), "row 2 has {", "comparison"),
        (changed(1, margin="wide"), "row 2 has {", "comparison"),
        (changed(1, ratio=None), "row 2 has {", "comparison"),
        (changed(0, against="eight"), "the baseline row was compared with eight", "row"),
        ([{**ROWS[0], "c": None}, *ROWS[1:]], "the baseline row has no comparison", "row"),
        (
            changed(3, against="itself"),
            "not all compared with the baseline row, but with none, itself",
            "comparison",
        ),
        (changed(3, against="a"), "but with none, a", "comparison"),
        (
            changed(1, verdict="slower"),
            "row 2 has the verdict slower, but an interval from 1.08 to 1.17",
            "comparison",
        ),
        (changed(3, verdict="not known"), "with a margin of 0.1 says no difference", "comparison"),
        (changed(1, ratio=1.5), "row 2 has a ratio of 1.5, outside its interval", "comparison"),
        (changed(1, low=None), "row 2 has the verdict faster, but no interval", "comparison"),
    ],
)
def test_a_comparison_that_cannot_stand_is_an_error_at_its_setting(
    rows: list[dict[str, Any]], said: str, place: str
) -> None:
    (found,) = faults(rows)
    assert (found.rule, found.severity) == ("MT334", "error")
    assert said in found.message
    assert found.hint
    assert (found.line, found.column) == spec().locate(("baseline", place))


def test_a_field_that_no_row_has_is_an_error_at_its_setting() -> None:
    (found,) = faults([{"x": "none", "v": 1}])
    assert (found.rule, found.message) == ("MT302", "no row has the column 'c'")


def test_one_comparison_is_of_one_column() -> None:
    (found,) = faults(ROWS, column=["v", "x"])[-1:]
    assert "`c` compares the speed, but 2 columns are compared" in found.message


def test_a_cell_does_not_show_a_comparison_that_contradicts_itself() -> None:
    from mongo_tables.site.row_faults import row_findings

    spec = table("n", "c")
    sound = {
        "against": "1",
        "ratio": 0.9,
        "low": 0.85,
        "high": 0.95,
        "blocks": 20,
        "margin": 0.1,
        "verdict": "slower",
    }
    for verdict, faults in (("slower", 0), ("faster", 1)):
        rows = [{"n": 1, "c": sound}, {"n": 2, "c": {**sound, "verdict": verdict}}]
        found = row_findings(spec, {}, {spec.query.key: rows}, (), date(2026, 1, 1))
        assert [one.rule for one in found] == ["MT334"] * faults
        assert all(one.message.startswith("in `c`, row 2 has the verdict faster") for one in found)


@pytest.mark.parametrize(
    ("low", "high", "said"),
    [
        (0.95, 1.04, ""),
        (0.78, 1.16, " Its noise reaches 22 %, so the ratios are rough."),
        (0.8, 2.4, "2.4 times"),
    ],
)
def test_the_note_on_a_reference_says_noise_beyond_its_margin(low: float, high: float, said: str) -> None:
    told = {"against": "itself", "ratio": 1.0, "low": low, "high": high, "blocks": 8, "margin": 0.1}
    (note,) = notes_on_references([conclusion_of({**told, "verdict": "not known"})])
    assert ("noise" in note) == bool(said)
    assert said in note


def test_in_groups_of_rows_each_comparison_is_with_the_reference_of_its_group() -> None:
    groups = [*({**row, "g": "A"} for row in ROWS[:3]), *({**row, "g": "B"} for row in ROWS[:2])]
    settings = {"row": 1, "column": "v", "comparison": "c"}
    shown = table("g", "x", "v", headers=["Engine", "Indexes", "Speed"], group_rows="g", baseline=settings)
    assert row_findings(shown, {}, {shown.query.key: groups}, (), date(2026, 1, 1)) == []
    assert [row[-1] for row in read(figure_html(shown, groups)).tables[0][1:]] == [
        "A",
        "baseline",
        "+12\u00a0% (+8 to +17)",
        "−20\u00a0% (−25 to −15)",
        "B",
        "baseline",
        "+12\u00a0% (+8 to +17)",
    ]
    assert "The baseline against itself, measured again in each block: +1" in figure_html(shown, groups)
