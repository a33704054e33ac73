"""Reference pages, written from the data that the program itself runs on; never by hand.

Each function gives the Markdown of one page.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from itertools import groupby, takewhile
from typing import Any

from mongo_tables.aggregation.catalogue import Operator, OperatorKind, operators
from mongo_tables.cli import COMMANDS, GROUPS, build_parser
from mongo_tables.directives.keywords import KEYWORDS
from mongo_tables.directives.schemas import ResultField, fields, load
from mongo_tables.directives.specs import DIRECTIVES
from mongo_tables.findings.rules import RULES

_KINDS: tuple[tuple[OperatorKind, str], ...] = (
    ("stage", "Stages"),
    ("expression", "Expressions"),
    ("accumulator", "Accumulators of `$group`"),
    ("window", "Window operators of `$setWindowFields`"),
    ("query", "Query operators of `$match`"),
)


def offline_page() -> str:
    """What the offline evaluator covers, operator by operator, and what it refuses and why."""
    parts = [
        "# What runs offline\n",
        "Pipelines over fixture files run without a server. The evaluator returns the same rows as MongoDB, down to "
        "BSON types and the order of fields, or refuses a pipeline with a message. It never guesses. This page is made "
        "from the catalogue that the evaluator uses.\n",
    ]
    for kind, title in _KINDS:
        known = [one for one in operators() if one.kind == kind]
        parts.append(f"## {title}\n")
        parts.append(
            _operator_table(sorted((one for one in known if not one.refused), key=lambda one: one.name))
        )
        parts.append(_refused_list(one for one in known if one.refused))
        parts.append(_partly_list(one for one in known if one.not_of))
    return "\n".join(part for part in parts if part)


def _operator_table(known: Iterable[Operator]) -> str:
    lines = ["| Operator | Arguments | Since MongoDB |", "| --- | --- | --- |"]
    lines += [f"| [`{one.name}`]({one.manual}) | {_arguments(one)} | {one.since} |" for one in known]
    return "\n".join(lines) + "\n"


def _arguments(one: Operator) -> str:
    if one.style == "named":
        optional = ", ".join(f"`{name}`" for name in one.optional)
        required = ", ".join(f"`{name}`" for name in one.required)
        return required + (f"; optional {optional}" if required and optional else optional)
    if one.style == "array":
        if one.most is None:
            return f"{one.least} or more" if one.least else "any number"
        return str(one.least) if one.least == one.most else f"{one.least} to {one.most}"
    return ""


def _refused_list(refused: Iterable[Operator]) -> str:
    by_reason = sorted(refused, key=lambda one: (one.refused, one.name))
    lines = [
        f"* {', '.join(f'`{one.name}`' for one in group)}: {reason}."
        for reason, group in groupby(by_reason, key=lambda one: one.refused)
    ]
    return "These do not run offline:\n\n" + "\n".join(lines) + "\n" if lines else ""


def _partly_list(known: Iterable[Operator]) -> str:
    names = sorted((one.not_of, one.name) for one in known)
    lines = [
        f"* {', '.join(f'`{name}`' for _, name in group)}: refused for a {kind}, because servers compute "
        "the last digits of the result differently. Convert it with `$toDouble` first."
        for kind, group in groupby(names, key=lambda one: one[0])
    ]
    return "These run offline only in part:\n\n" + "\n".join(lines) + "\n" if lines else ""


FIRST_RULES = {
    "MT303": "No document is left. `mongo-tables explain` names the stage that dropped the last ones, and says why",
    "MT301": "MongoDB refuses the pipeline. The message names the stage and the operator",
    "MT439": "Documents without an element of an unwound array are in no row. Keep them, or exclude them in a `$match`",
    "MT402": "A name is misspelt, or an earlier stage dropped the field",
    "MT302": "A column shows a field that no row has. This often happens after a `$group`, whose key is `_id`",
    "MT305": "Rows are sorted by a field that no row has, so their order is arbitrary",
    "MT411": "Two rows have the same name. Show a column that distinguishes them, or group them",
    "MT436": "A `$` is missing, so all documents have the same value",
    "MT435": "A number is compared with a string, or a date with a string",
    "MT440": "A sum counts a value once for each element of an unwound array",
}
"""The rules that are met most often in pipelines that were broken as people report it, with what to do."""


def rules_page() -> str:
    """Every rule that `mongo-tables check` can complain of."""
    lines = [
        "# Rules\n",
        "`mongo-tables check` and the build name the rule of each finding. An error stops the build; a warning stops "
        "it under `--strict` and makes `check` fail. `mongo-tables explain MT303` explains a rule offline.\n",
        "## The ten most frequent {#ten-that-authors-meet-most-often}\n",
        *(f"* `{rule}`: {what}." for rule, what in FIRST_RULES.items()),
        "\n## All rules\n",
        "| Rule | Name | Severity | Meaning |",
        "| --- | --- | --- | --- |",
    ]
    lines += [f"| `{rule.id}` | {rule.name} | {rule.severity} | {rule.summary} |" for rule in RULES.values()]
    return "\n".join(lines) + "\n"


KEY_GROUPS: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "table": {
        "Rows": ("collection", "rows", "where", "sort", "limit", "pipeline", "compute", "let"),
        "Columns": ("columns", "headers", "header_groups", "format", "spread", "locale", "markdown"),
        "Appearance": ("title", "caption", "group_rows", "totals", "chart", "empty", "id"),
        "Comparison": ("baseline",),
        "Trust and upkeep": ("provenance", "max_age", "measured_of"),
    },
    "value": {
        "Which value": ("table", "column", "where"),
        "Rows of its own": ("collection", "rows", "sort", "limit", "pipeline", "compute", "field"),
        "How it is written": ("say", "per", "format", "draw", "url"),
        "Upkeep": (),
    },
    "check": {"What is checked": ("table", "where", "expect", "message"), "Upkeep": ()},
    "chart": {
        "Rows": ("collection", "rows", "where", "sort", "limit", "pipeline", "compute", "let"),
        "What is drawn": ("mark", "x", "y", "series", "spread", "stack", "facets", "reference"),
        "Axes": ("log", "zero", "horizontal", "labels", "format", "locale"),
        "Appearance": ("title", "caption", "markdown", "empty", "id"),
        "Trust and upkeep": ("provenance", "max_age", "measured_of"),
    },
}
"""The keys of each comment by their purpose. The last group also has the keys that no group names."""


def keys_page() -> str:
    """Every key of every comment, from their JSON Schemas, by purpose."""
    parts = [
        "# Comments and their keys\n",
        "The body of a comment is one JSON object (MongoDB Extended JSON, relaxed or canonical). The [gallery]"
        "(../authors/gallery.md) shows charts with their comments, and `mongo-tables schema NAME` prints the JSON "
        "Schemas that this page is made from.\n",
    ]
    parts += map(_comment_section, DIRECTIVES)
    return "\n".join(parts)


def _comment_section(kind: str) -> str:
    schema = load(kind)
    title = " or ".join(f"`{keyword}`" for keyword, meant in KEYWORDS.items() if meant == kind)
    groups = _grouped_keys(kind, schema["properties"])
    parts = [
        f"## {title} {{ #mongo_{kind} }}\n\n{schema['markdownDescription']}\n",
        "| Purpose | Keys |\n| --- | --- |",
        *(
            f"| {group} | {', '.join(f'[`{key}`](#{_key_id(kind, key)})' for key in keys)} |"
            for group, keys in groups.items()
        ),
        "",
    ]
    for group, keys in groups.items():
        parts.append(f"### {group} {{ #{kind}-keys-{group.lower().replace(' ', '-')} }}\n")
        for key in keys:
            text = _key_text(key, schema["properties"][key], key in schema.get("required", ()))
            parts.append(f"#### `{key}` {{ #{_key_id(kind, key)} }}\n\n{text}\n")
    return "\n".join(parts)


def _key_id(kind: str, key: str) -> str:
    return f"{kind}-{key.replace('_', '-')}"


def _grouped_keys(kind: str, known: Iterable[str]) -> dict[str, list[str]]:
    """The keys of a comment by their purpose."""
    left = list(known)
    by_purpose = KEY_GROUPS.get(kind, {"Keys": ()})
    groups = {group: [key for key in keys if key in left] for group, keys in by_purpose.items()}
    named = {key for keys in groups.values() for key in keys}
    groups[[*groups][-1]] += [key for key in left if key not in named]
    return groups


def _key_text(name: str, key: Mapping[str, Any], required: bool) -> str:
    text = "**Required.** " if required else ""
    text += str(key.get("markdownDescription") or key.get("description", ""))
    examples = "\n".join(
        f"{json.dumps(name)}: {json.dumps(one, ensure_ascii=False)}" for one in key.get("examples", ())
    )
    return f"{text}\n\n```json\n{examples}\n```" if examples else text


def fields_page() -> str:
    """Every field of a result document: its path, unit and meaning, grouped by the document it stands in."""
    parts = [
        "# Fields of a result document\n",
        "`mongo-tables run` writes one such document for each variant of an experiment, into the collection `results`. "
        "Paths lead through arrays as they do through documents, and `*` stands for any name. Ratios and plain counts "
        "have the unit 1. Parameters of an experiment are listed once, under `variant`: `_id`, `experiment.parameters` "
        "and `experiment.variant` have them as requested, and `variant`, `test_config` and `test_config.variant` have "
        "them as they were run. Headers of tables on the site explain their columns with these descriptions. This page "
        "is made from the JSON Schemas that validate documents.\n",
    ]
    listed = (field for field in fields().values() if not _repeats_parameter(field))
    for group, inside in groupby(listed, key=lambda field: field.path.partition(".")[0]):
        parts.append(_fields_section(group, list(inside)))
    return "\n".join(parts)


def published_page() -> str:
    """Every field of a document of published figures."""
    own = [field for field in fields("published").values() if not field.path.startswith("result_id.")]
    return (
        "# Fields of published figures\n\n"
        "The file of an experiment contains the figures that others published for it. `mongo-tables experiments "
        "--published` and every `mongo-tables run` write them into the collection `published`, with one document for "
        "each row. `result_id` is the `_id` of the matching result, so a page can show both figures side by side:\n\n"
        f"```json\n{_SIDE_BY_SIDE}\n```\n\n"
        "Figures keep the names and the units of their source. If a name is not listed, the page that shows it "
        "explains it. This page is made from the JSON Schema that validates documents.\n\n"
    ) + _fields_table(own)


def calibration_page() -> str:
    """Every field of a calibration but those that results have as well."""
    shared = ("parameters.", "versions.", "hardware.", "servers.", "topology.")
    own = [field for field in fields("calibration").values() if not field.path.startswith(shared)]
    return (
        "# Fields of a calibration\n\n"
        "`mongo-tables calibrate` writes one such document for each workload into the collection `calibration`. "
        "[How it is measured](../methodology.md#calibration) explains what pairs are. The fields of `versions`, "
        "`hardware`, `servers` and `topology` are those [of a result](fields.md). This page is made from the JSON "
        "Schema that validates documents.\n\n"
    ) + _fields_table(own)


def benchmark_page() -> str:
    """Every field of a benchmark."""
    return (
        "# Fields of a benchmark\n\n"
        "The output of every [benchmark tool](../authors/benchmarks.md) is read as documents with these fields, one "
        "for each measure of each benchmark. A document with a `start_time` counts as a result: the line under a "
        "figure shows its date, machine, commit and tool. This page is made from the JSON Schema that validates "
        "documents in the tests of each format.\n\n"
    ) + _fields_table(fields("benchmark").values())


_SIDE_BY_SIDE = """\
{"$lookup": {"from": "published", "localField": "_id", "foreignField": "result_id", "as": "published"}},
{"$set": {"theirs": {"$first": "$published.figures.DocsPerSecond"}}},
{"$set": {"ratio": {"$divide": ["$work.operations_per_second", "$theirs"]}}}"""


def _repeats_parameter(field: ResultField) -> bool:
    """Whether the field is a parameter outside ``variant``, where parameters are listed."""
    for place in (
        "_id.",
        "test_config.variant.",
        "test_config.",
        "experiment.parameters.",
        "experiment.variant.",
    ):
        if field.path.startswith(place):
            same = fields().get(f"variant.{field.path.removeprefix(place)}")
            return same is not None and same.description == field.description
    return False


def _fields_section(group: str, inside: Iterable[ResultField]) -> str:
    return f"## `{group}`\n\n{_fields_table(inside)}"


def _fields_table(inside: Iterable[ResultField]) -> str:
    lines = ["| Field | Unit | Title | Meaning |", "| --- | --- | --- | --- |"]
    lines += [f"| `{one.path}` | {one.unit} | {one.title} | {_cell(one.description)} |" for one in inside]
    return "\n".join(lines) + "\n"


def commands_page() -> str:
    """Every command of the program in a line, which leads to its page."""
    summaries = {name: summary for name, summary, _ in _commands(build_parser())}
    lines = [
        "# Commands\n",
        "Each command has a page with its options and examples; `mongo-tables COMMAND --help` prints the same.",
    ]
    for title, group in GROUPS.items():
        lines += [f"\n## {title.capitalize()}\n", "| Command | |", "| --- | --- |"]
        # The id keeps addresses from when all commands had one page.
        lines += [
            f"| [`{name}`](commands/{name}.md){{ #{name} }} | {summaries[name]} |" for name in group.commands
        ]
    return "\n".join(lines) + "\n"


def _commands(top: argparse.ArgumentParser) -> Iterator[tuple[str, str, argparse.ArgumentParser]]:
    """Name, summary and parser of each command; argparse has no public way to them."""
    for action in top._actions:
        if isinstance(action, argparse._SubParsersAction):
            for listed in action._choices_actions:
                yield listed.dest, listed.help or "", action.choices[listed.dest]


def command_page(name: str) -> str:
    """One command with its usage, examples and options, from the parser that reads them."""
    (command,) = (parser for known, _, parser in _commands(build_parser()) if known == name)
    # The usual width is that of the terminal: the page would depend on it.
    command.formatter_class = partial(argparse.HelpFormatter, width=72)
    parts = [
        f"# `mongo-tables {name}`\n",
        f"{_cell(command.description or '')} [All commands](../commands.md)\n",
        f"```text\n{command.format_usage()}```\n",
        *_epilog(command.epilog or ""),
        "## Arguments\n",
        "| Argument | Meaning |\n| --- | --- |",
        *(f"| `{_argument(one)}` | {_cell((one.help or '') % vars(one))} |" for one in command._actions),
    ]
    return "\n".join(part for part in parts if part) + "\n"


def _epilog(text: str) -> Iterator[str]:
    """Yield the parts of the end of a help text: prose as paragraphs, since its lines are longer than those of a page,
    and indented lines as they are."""
    for block in filter(None, text.strip().split("\n\n")):
        lines = block.splitlines()
        prose = [*takewhile(lambda line: not line.startswith(" "), lines)]
        if prose:
            yield _cell("\n".join(prose)) + "\n"
        if indented := "\n".join(lines[len(prose) :]):
            yield f"```text\n{indented}\n```\n"


def _argument(one: argparse.Action) -> str:
    """How an argument is written: its longest option, and the name or the choices of its value."""
    choices = f"{{{','.join(map(str, one.choices))}}}" if one.choices else None
    value = "" if one.nargs == 0 else str(one.metavar or choices or one.dest.upper())
    return " ".join(part for part in (one.option_strings[-1] if one.option_strings else "", value) if part)


def _cell(text: str) -> str:
    """A sentence in which names such as _id and the * of a path are no emphasis. Text in backticks stays as it is."""
    return re.sub(r"`[^`]*`|[_*|]", lambda found: found[0] if len(found[0]) > 1 else f"\\{found[0]}", text)


PAGES = {
    "reference/commands.md": commands_page,
    **{f"reference/commands/{name}.md": partial(command_page, name) for name in COMMANDS},
    "reference/offline.md": offline_page,
    "reference/rules.md": rules_page,
    "reference/keys.md": keys_page,
    "reference/fields.md": fields_page,
    "reference/published.md": published_page,
    "reference/calibration.md": calibration_page,
    "reference/benchmark.md": benchmark_page,
}
"""Path in the site and the function that gives the page."""
