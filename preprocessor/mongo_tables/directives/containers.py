"""Find the container of each line of Markdown, and whether a MkDocs site shows the line as code.

This module follows Python-Markdown, not CommonMark, with the extensions that MkDocs sites use: admonition,
footnotes, def_list, md_in_html, pymdownx.details, pymdownx.tabbed. A list item, admonition, tab, footnote or
definition contains the lines indented by four columns, and a list cannot begin in the middle of a paragraph
(https://python-markdown.github.io/#differences). The module parses only what distinguishes live text from code.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Set
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Literal, NamedTuple

from mongo_tables.directives.html_comments import Folded

Kind = Literal["live", "code", "hidden"]

_TOKEN = re.compile(r"<!--\ue000(\d+)-->")
_QUOTE = re.compile(r" {0,3}>( ?)")
_ITEM = re.compile(r"( {0,3})(?:[*+-]|\d+\.) +")
_FOOTNOTE = re.compile(r" {0,3}\[\^[^\]]*\]: *")
_DEFINITION = re.compile(r" {0,3}: {1,3}(?=\S)")
_TITLED = re.compile(
    r"!!! ?[\w\-]+(?: +[\w\-]+)*(?: +\".*?\")? *$"
    r"|\?\?\?\+? ?(?:[\w\-]+(?: +[\w\-]+)*(?: +\".*?\")?|\".*?\") *$"
    r"|===(?:\+!|!\+|\+|!)? +\".*?\" *$"
)
_RULE = re.compile(r" {0,3}(?>(?:-+ {0,2}){3,}|(?:_+ {0,2}){3,}|(?:\*+ {0,2}){3,}) *$")
_HEADING = re.compile(r"#{1,6}")
_UNDERLINE = re.compile(r"(?:=+|-+) *$")
_DELIMITER_ROW = re.compile(r"(?=.*-)(?=.*[|:]) {0,3}[|:\- ]+$")
_STEP = 4
_IN_ADDRESS = re.compile(r"(?:\]\(<?|<(?:https?|mailto):)[^\s()<>]*$")
_IN_LINK_TITLE = re.compile(r"\]\(<?[^\s()<>]*>?\s+[\"'][^\"']*$")
_IN_DEFINITION = re.compile(r"\[[^\]^][^\]]*\]: *(?:<?[^\s<>]*|<?\S+>? +[\"'(][^\"')]*)$")
_FORMULA_OPENS = re.compile(r"(?<![\w\\$])\$(?![\s$\ue000<])")
_FORMULA_ENDS = re.compile(r"[^$]*(?<![\s$\\])\$(?![\w$<])")
# Beyond this depth of lists Python-Markdown raises RecursionError; it stops parsing quotes much earlier.
_DEEPEST = 500
# Holders that cannot contain a comment.
IMAGE = "the text of an image"
ADDRESS = "the address of a link"
LINK_TITLE = "the title of a link"
DEFINITION = "the definition of a link"
FORMULA = "a formula"
HEADING = "a heading"
UNFIT = (IMAGE, ADDRESS, LINK_TITLE, DEFINITION, FORMULA)
TITLE = "the title of an admonition or a tab"  # comments in it are dropped


class Placement(NamedTuple):
    """The place of a comment.

    Attributes:
        kind: ``live`` (Python-Markdown outputs an HTML comment), ``code`` (it prints the source), or ``hidden``.
        prefix: The prefix of further lines in the same container.
        inline: Whether there is text of the same paragraph on the comment's lines.
        holder: The enclosing element that may contain a value, but no table: a heading, a table cell, a link; or "".
        element: For a hidden comment, the enclosing HTML element, such as ``pre`` or ``script``.
        foreign: Whether the comment is in a container that CommonMark does not have.
        margin: Whether the comment is a separate block at the margin, which all Markdown dialects treat alike.
        raw: Whether the comment is inside a raw block of HTML.
        contained: Whether the comment is in any container.
    """

    kind: Kind
    prefix: str
    inline: bool
    holder: str = ""
    element: str = ""
    foreign: bool = False
    before: str = ""
    after: str = ""
    margin: bool = False
    raw: bool = False
    contained: bool = False


def places(folded: Folded, wanted: Set[int], mdx: bool = False) -> dict[int, Placement]:
    """Return the place of each comment whose number is in ``wanted``. Comments in fences are omitted.

    With ``mdx``, indented text is not code, and tags may contain Markdown.
    """
    scan = _Scan(wanted, mdx, _RawHtml())
    found: dict[int, Placement] = {}
    for index, (line, after) in enumerate(zip_longest(folded.lines, folded.lines[1:], fillvalue="")):
        if index in folded.fenced:
            scan.skip(line, opens=folded.fenced[index])
        elif placed := scan.read(line, after):
            found.update(placed)
    return found


def _blocks(text: str, tail: int, wanted: Set[int]) -> dict[int, tuple[bool, str, str]]:
    """For each comment of a line at the margin, return whether it is a block, and the texts to write around it.

    Python-Markdown extracts a comment at the margin as a block, and the text after it becomes a paragraph. But a
    second comment on the same line, or a comment after the end tag of a raw block, is moved down the page to the
    next raw block. The returned texts contain a line break, which prevents that. ``tail`` is the offset after such
    an end tag, or -1.
    """
    found: dict[int, tuple[bool, str, str]] = {}
    in_tail, at = tail >= 0, max(tail, 0)
    fresh = True  # only blanks since the beginning of the line or the end of the last block
    for token in _TOKEN.finditer(text, at):
        between = text[at : token.start()]
        fresh, at = fresh and not between.strip(), token.end()
        number = int(token[1])
        if number not in wanted:
            in_tail = in_tail or fresh
            continue
        before = "" if not in_tail else "\n" if fresh else "\n&#32;"
        if fresh and len(between) >= _STEP and found:
            before = "\n"
        more = fresh and text[at:].strip()
        found[number] = (fresh, before, "\n" if more else "")
        in_tail = in_tail and not before
    return found


def _is_rule(text: str) -> bool:
    mark = text.lstrip(" ")[:1]
    if mark not in ("-", "_", "*") or text.rstrip(f"{mark} "):
        return False
    return "   " not in text.strip(" ") and bool(_RULE.match(text))


@dataclass(eq=False)
class _Container:
    """An open container: a quote, or a body indented by four columns.

    A ``tight`` container began on the first line of a list item. Python-Markdown does not remove the indentation of
    this item until the next blank line.
    """

    kind: Literal["quote", "item", "body"]
    tight: bool


@dataclass(eq=False)
class _Scan:
    """The state between two lines: open containers and raw HTML, an unfinished paragraph or code block."""

    wanted: Set[int]
    mdx: bool
    html: _RawHtml
    open: list[_Container] = field(default_factory=list)
    paragraph: int = 0  # lines of the paragraph (or of the table) so far; 0 when none is open
    table: bool = False
    code: bool = False
    continued: bool = False  # the line is indented like code, but continues a paragraph
    formula: bool = False  # after an odd number of `$$` in the paragraph
    definition: str = ""  # the last line of the paragraph, if all its lines may be link definitions

    def skip(self, line: str, *, opens: bool) -> None:
        """Read one line of fenced code. ``opens`` says whether the line opens the fence."""
        if opens:
            self._enter(line.expandtabs(_STEP))
        self.paragraph, self.code = 0, False

    def read(self, line: str, after: str) -> Iterable[tuple[int, Placement]]:
        """Read one line outside fences, and return the places of its comments. ``after`` is the next line."""
        text = line.expandtabs(_STEP) if "\t" in line else line
        if not (self.open or self.html.stack or self.html.unfinished) and "<" not in text:
            if not text:
                self._blank()
                return ()
            if text[0].isalpha() or text[0] in "#|":  # Like most lines, it begins no container.
                self.code = False
                self._leave(text, at_margin=False)
                return ()
        if self.mdx:
            return self._read_markdown(text, after)
        if self.html.unfinished and text.strip():
            text = f"{self.html.unfinished} {text}"
        self.html.unfinished = ""
        if self.html.stack:
            return self._read_raw(text)
        tag = _MARGIN_TAG_NAME.match(text)
        if tag is None or tag[1].lower() not in _BLOCK_LEVEL:
            return self._read_markdown(text, after)
        # A block-level tag at the margin ends all blocks. Its content is raw unless the tag has the attribute markdown.
        self.open.clear()
        self.paragraph, self.table, self.code = 0, False, False
        if ">" not in text:
            self.html.unfinished = text if len(text) < _LONGEST_TAG else ""
        elif (start := _MARGIN_TAG.match(text)) and not _NOT_RAW.search(start["attributes"]):
            return self._read_raw(text)
        found = list(self._read_markdown(text, after))
        self.paragraph = 0
        return found

    def _read_raw(self, text: str) -> Iterator[tuple[int, Placement]]:
        """Read a line of a raw block, or the line that begins the block. Its comments are live, even if they are
        indented.
        """
        prefix = text[: len(text) - len(text.lstrip(" "))]
        inline = bool(_TOKEN.sub("", text).strip())
        blocks: dict[int, tuple[bool, str, str]] = {}
        for number, element, ended_at in self.html.read(text):
            if ended_at >= 0 and not blocks:
                blocks = _blocks(text, ended_at, self.wanted)
            kind: Kind = "hidden" if element else "live"
            if number in blocks:
                block, before, after = blocks[number]
                yield number, Placement(kind, prefix, not block, foreign=True, before=before, after=after)
            elif number in self.wanted:
                yield number, Placement(kind, prefix, inline, element=element, foreign=True, raw=True)

    def _blank(self) -> None:
        self.paragraph, self.table, self.formula = 0, False, False
        for container in self.open:
            container.tight = False

    def _read_markdown(self, text: str, after: str) -> Iterable[tuple[int, Placement]]:
        rest = text.lstrip(" ")
        if not rest:
            self._blank()
            return ()
        at_margin = rest.startswith("<!--") and (self.mdx or len(text) - len(rest) < _STEP)
        if at_margin:
            self.open.clear()
            self.paragraph, self.table, self.code, self.continued = 0, False, False, False
            prefix, alone = text[: len(text) - len(rest)], _TOKEN.fullmatch(rest)
            if alone and not self.formula and not self.html.opaque:  # the quick way for most comments
                number = int(alone[1])
                return (
                    [(number, Placement("live", prefix, False, margin=True))] if number in self.wanted else ()
                )
        else:
            prefix, rest = self._enter(text)
        around = self.html.follow(rest) if "<" in rest and ">" in rest and not self.code else {}
        places = list(self._places(prefix, rest, after, at_margin, around)) if "\ue000" in rest else []
        if "\ue000" in text and "\ue000" not in rest:
            for token in _TOKEN.finditer(text):  # in the title of the container that the line opens
                if (number := int(token[1])) in self.wanted:
                    places.append((number, Placement("code", prefix, True, TITLE, contained=True)))
        self._leave(rest, at_margin)
        return places

    def _enter(self, text: str) -> tuple[str, str]:
        """Enter the containers that the line continues, then those that it opens. Return prefix and rest."""
        prefix, rest, depth = "", text, 0
        for index, container in enumerate(self.open):
            if self.open[index + 1 :] and self.open[index + 1].tight and container.kind == "item":
                depth += 1
                continue
            match = _QUOTE.match(rest) if container.kind == "quote" else re.match(" {4}", rest)
            if match is None:
                break
            prefix, rest, depth = prefix + match[0], rest[match.end() :], depth + 1
        if not rest.strip():
            self._blank()
            return prefix, ""
        if rest.strip() == ">" and depth < len(self.open) and self.open[depth].tight:
            self.paragraph, self.table = 0, False
            return prefix, ""
        self._drop_below(depth, rest)
        first, at_item = rest, False
        while len(self.open) < _DEEPEST and (opened := self._container_of(rest, at_item)) is not None:
            container, own, rest = opened
            self.open.append(container)
            self.paragraph, self.table, self.code = 0, False, False
            at_item = bool(_ITEM.match(first))
            first = rest
            prefix += own
        indent = len(rest) - len(rest.lstrip(" "))
        self.continued = indent >= _STEP and self.paragraph > 0
        if indent >= _STEP and not self.paragraph:
            self.code = not self.mdx
        elif indent < _STEP:
            self.code = False
        return prefix + rest[:indent], rest[indent:]

    def _drop_below(self, depth: int, rest: str) -> None:
        """Close the containers that end before the line, unless the line continues a paragraph without its prefix."""
        if depth == len(self.open):
            return
        if self.open[depth].tight:
            self.paragraph = 0 if self.open[depth].kind == "body" else self.paragraph
            return
        lazy = self.paragraph and self.open[depth].kind != "body"
        sibling = self.open[depth].kind == "item" and _ITEM.match(rest)
        if lazy and not sibling and not _TITLED.match(rest):
            return
        del self.open[depth:]
        self.paragraph = 0
        self.table = False

    def _container_of(self, rest: str, at_item: bool) -> tuple[_Container, str, str] | None:
        """Return the container that ``rest`` begins, its prefix and the rest of the line, or None without a
        container.
        """
        if quote := _QUOTE.match(rest):
            return _Container("quote", at_item), quote[0], rest[quote.end() :]
        if _is_rule(rest):
            return None
        in_list = bool(self.open) and self.open[-1].kind == "item"
        item = _ITEM.match(rest) if in_list or not self.paragraph else None
        if item:
            return _Container("item", False), " " * _STEP, rest[item.end() :]
        if (footnote := _FOOTNOTE.match(rest)) and all(outer.kind == "quote" for outer in self.open):
            # Inside another container except quotes, a footnote does not contain further lines.
            return _Container("body", False), " " * _STEP, rest[footnote.end() :]
        if (definition := _DEFINITION.match(rest)) and all(outer.kind != "item" for outer in self.open):
            return _Container("body", False), " " * _STEP, rest[definition.end() :]
        return (_Container("body", at_item), " " * _STEP, "") if _TITLED.match(rest) else None

    def _places(
        self, prefix: str, rest: str, after: str, at_margin: bool, around: dict[int, str]
    ) -> Iterator[tuple[int, Placement]]:
        inline = self.continued or bool(_TOKEN.sub("", rest).strip().removeprefix("\ufeff"))
        foreign = any(container.kind == "body" for container in self.open)
        blocks = _blocks(rest, -1, self.wanted) if at_margin else {}
        for token in _TOKEN.finditer(rest):
            number = int(token[1])
            if number not in self.wanted:
                continue
            element = around.get(number, "")
            kind: Kind = "code" if self.code else "hidden" if element else "live"
            block, before, behind = blocks.get(number, (not inline, "", ""))
            # A table continues until a blank line or a comment at the margin.
            in_table = self.table and not at_margin
            holder = "" if self.code else self._find_unfit(rest, token)
            if not holder and (in_table or not block) and not self.code:
                holder = self._holder(rest, token, after)
            yield (
                number,
                Placement(
                    kind,
                    prefix,
                    not block,
                    holder,
                    element,
                    foreign,
                    before,
                    behind,
                    at_margin and block,
                    contained=bool(self.open),
                ),
            )

    def _find_unfit(self, rest: str, token: re.Match[str]) -> str:
        """Return the enclosing element in which Markdown has no comments, such as the address of a link, or ""."""
        before, behind = rest[: token.start()], rest[token.end() :]
        if ")" in behind or ">" in behind:
            near = before[-_LONGEST_TAG:]
            if _IN_ADDRESS.search(near):
                return ADDRESS
            if _IN_LINK_TITLE.search(near):
                return LINK_TITLE
        above = self.definition if self.paragraph else ""
        if (above or not self.paragraph) and (
            _IN_DEFINITION.match(before) or (above and _IN_DEFINITION.match(f"{above} {before}"))
        ):
            return DEFINITION
        dollar = before.rfind("$")
        in_line = dollar >= 0 and _FORMULA_OPENS.match(before, dollar) and _FORMULA_ENDS.match(behind)
        return FORMULA if in_line or self.formula ^ (before.count("$$") % 2 == 1) else ""

    def _holder(self, rest: str, token: re.Match[str], after: str) -> str:
        """Return the element that contains the comment and cannot contain a table, or ""."""
        under = after.lstrip("> \t")
        if _HEADING.match(rest) or (not self.paragraph and rest[0] != "<" and _UNDERLINE.match(under)):
            return HEADING
        if self.table or ("|" in rest and not self.paragraph and _DELIMITER_ROW.match(under)):
            return "a table"
        before, behind = rest[: token.start()], rest[token.end() :]
        opened = before.rfind("[")
        if opened > before.rfind("]") and re.match(r"[^\[\]]*\](?:\(|\[)", behind):
            return IMAGE if before[:opened].endswith("!") else "a link"
        return ""

    def _leave(self, rest: str, at_margin: bool) -> None:
        """Record the state of the paragraph for the next line."""
        self.definition = rest if rest[:1] == "[" and (self.definition or not self.paragraph) else ""
        if "$$" in rest and not self.code:
            self.formula ^= rest.count("$$") % 2 == 1
        if at_margin:
            self.paragraph = 1 if _TOKEN.sub("", rest).strip() else 0
        elif (
            not rest
            or self.code
            or _HEADING.match(rest)
            or _is_rule(rest)
            or (self.paragraph == 1 and _UNDERLINE.match(rest))
        ):
            self.paragraph, self.table = 0, False
        else:
            self.table = self.table or (self.paragraph == 1 and bool(_DELIMITER_ROW.match(rest)))
            self.paragraph += 1


# https://github.com/Python-Markdown/markdown/blob/master/markdown/util.py, BLOCK_LEVEL_ELEMENTS, without hr.
_BLOCK_LEVEL = frozenset(
    """
    address article aside blockquote body canvas center colgroup dd details div dl dt fieldset
    figcaption figure footer form group h1 h2 h3 h4 h5 h6 header hgroup html iframe legend li main map
    math menu nav noscript object ol option output p pre progress script section style summary table
    tbody td textarea tfoot th thead tr ul video
    """.split()  # noqa: SIM905 - a list of fifty quoted names is harder to read
)
# Elements in which a browser hides comments or shows them as text.
OPAQUE = frozenset({"pre", "script", "style", "textarea"})
# Elements that contain no other tags: everything up to their end tag is text.
_CDATA = frozenset({"script", "style"})
_LONGEST_TAG = 5000  # characters; longer text is neither a tag nor a link
_PIECE = re.compile(
    r"<!--\ue000(?P<token>\d+)-->|</(?P<end>[a-zA-Z][^\s/>]*)[^>]*>"
    r"|<(?P<tag>[a-zA-Z][^\s/>]*)(?P<attributes>(?:\"[^\"]*\"|'[^']*'|[^'\"<>])*)>"
)
_MARGIN_TAG = re.compile(r" {0,3}<(?P<tag>[a-zA-Z][^\s/>]*)(?P<attributes>(?:\"[^\"]*\"|'[^']*'|[^'\"<>])*)>")
_MARGIN_TAG_NAME = re.compile(r" {0,3}</?([a-zA-Z][^\s/>]*)")
_NOT_RAW = re.compile(r"\smarkdown(?=[\s=/]|$)(?!=[\"']?0)|/\Z")  # md_in_html; an empty element


@dataclass(eq=False)
class _RawHtml:
    """The open tags of raw HTML, outermost first.

    ``opaque`` is the open element in ordinary text whose content is not HTML, or "".
    """

    stack: list[str] = field(default_factory=list)
    depth: Counter[str] = field(default_factory=Counter)  # the number of each tag in the stack
    opaque: str = ""
    unfinished: str = ""  # a start tag at the margin that continues on the next line

    def read(self, text: str) -> Iterator[tuple[int, str, int]]:
        """Read a line of a raw block. Yield the number of each comment, its opaque element, and the end of the block.

        The end is the offset in ``text`` if the block ends before the comment, or -1.
        """
        ended_at = -1
        for piece in _PIECE.finditer(text):
            tag = (piece["tag"] or piece["end"] or "").lower()
            if piece["token"] is not None:
                opaque = next((one for one in sorted(OPAQUE) if self.depth[one]), "")
                yield int(piece["token"]), opaque, ended_at
            elif self.stack and self.stack[-1] in _CDATA and not (piece["end"] and tag == self.stack[-1]):
                continue  # text
            elif piece["tag"] is not None:
                if not piece["attributes"].endswith("/"):
                    self.stack.append(tag)
                    self.depth[tag] += 1
            elif self.depth[tag]:
                while (inner := self.stack.pop()) != tag:
                    self.depth[inner] -= 1
                self.depth[tag] -= 1
            if not self.stack and ended_at < 0:
                ended_at = piece.end()

    def follow(self, text: str) -> dict[int, str]:
        """Read the tags in a line of Markdown. Return, for each comment, the opaque element around it, or ""."""
        around: dict[int, str] = {}
        for piece in _PIECE.finditer(text):
            if piece["token"] is not None:
                around[int(piece["token"])] = self.opaque
            elif self.opaque:
                self.opaque = "" if (piece["end"] or "").lower() == self.opaque else self.opaque
            elif (piece["tag"] or "").lower() in OPAQUE:
                self.opaque = piece["tag"].lower()
        return around


def without_prefix(line: str, prefix: str) -> str:
    """Return ``line`` without the part that belongs to ``prefix``."""
    return line[prefix_length(line, prefix) :]


def prefix_length(line: str, prefix: str) -> int:
    """Return the number of characters of ``line`` that belong to ``prefix``.

    A line that continues a paragraph may have fewer quote marks than the prefix. A tab extends to the next multiple of
    four columns.
    """
    if not prefix:
        return 0
    quotes, _, indent = prefix.rpartition(">")
    count = quotes.count(">") + 1 if quotes or prefix.startswith(">") else 0
    match = re.match(rf"(?:[ \t]*>){{0,{count}}}(?<=>) ?" if count else "", line)
    end = match.end() if match is not None else 0
    if end and indent.startswith(" ") and line[end - 1 : end] == " ":
        indent = indent[1:]  # the blank after a quote mark belongs to the mark
    column = len(line[:end].expandtabs(4))
    limit = column + len(indent)
    while end < len(line) and line[end] in " \t" and column < limit:
        column += 4 - column % 4 if line[end] == "\t" else 1
        end += 1
    return end
