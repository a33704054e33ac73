"""Why a typed figure may not be that of the one cell that has it: it stays as it is typed, and its author decides.

A value in its place is written anew by the next run. The sentence must then still say what it says: a bound, a target,
the most of several rows or a figure of last year is not the cell's, though it has the same digits today.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from mongo_tables.pages.prose.around import AHEAD, SENTENCE_END
from mongo_tables.pages.prose.nameindex import name_pattern
from mongo_tables.pages.prose.numbers import figures
from mongo_tables.pages.prose.paragraphs import BLANK
from mongo_tables.pages.prose.plainwords import list_words, stem
from mongo_tables.pages.prose.quoted import blank_names_of_rows
from mongo_tables.pages.prose.quoting import find_other_part

if TYPE_CHECKING:
    from mongo_tables.pages.prose.around import Around
    from mongo_tables.pages.prose.clauses import Clause
    from mongo_tables.pages.prose.numbers import Figure
    from mongo_tables.pages.prose.quoted import Quoted

_BOUND: Final = re.compile(
    r"\b(?:than|within|over|under|above|below|beyond|exceeds?|beats?|(?:up|down) to|at (?:the )?(?:least|most))"
    rf"[\s*_{BLANK}]*\Z",
    re.IGNORECASE,
)
_BOUND_BEHIND: Final = re.compile(
    rf"[\s*_{BLANK})]*(?:or (?:less|more|fewer|better|worse|below|above|so)|at (?:most|least|best|worst)|tops|±|\+/-)",
    re.IGNORECASE,
)
_EARLIER: Final = (
    r"last (?:year|month|week|release|version)|years? ago|previous(?:ly)?|formerly|used to|back then|originally"
    r"|initially|earlier|later|before|after|since|until|today|old|new|baseline|unchanged|any ?more|no longer"
    r"|(?:version|release) \d|v\d|(?:19|20)\d\d(?:-\d\d)*|(?:down|up) from"
)
_SEVERAL: Final = (
    r"(?:fast|slow|quick|low|high|larg|small|long|short|cheap|bigg)est|best|worst|most|least|peak|winner|wins|won|top"
    r"|between|rang(?:e|es|ing)|all|every(?:thing|one)?|none|nothing|always|never"
)
_WANTED: Final = (
    r"targets?|goals?|budgets?|limits?|SLOs?|SLAs?|gates?|should|must|shall|if|timeouts?|deadlines?|expect(?:s|ed)?|aims?"
    r"|allow(?:s|ed)?|quotas?|thresholds?|caps?"
)
_MEASURES: Final = (
    r"mean|median|average|min(?:imum)?|max(?:imum)?|p\d\d+|percentile|deviation"
    r"|(?:user|sys(?:tem)?|wall|elapsed|total)[- ](?:clock|time)"
)
_FITTING: Final = (  # what is true of one figure, and need not be of the next
    r"only|just|mere(?:ly)?|barely|hardly|almost|nearly|still|already|even|too|enough|whopping|impressive"
    r"|few(?:er)?|less|more|most(?:ly)?|much|than|twice|thrice|half|halves|halved|thirds?|quarters?"
    r"|double[sd]?|triple[sd]?|times|factor|\w*fold|[\d.,]+\s?(?:%|x|×|percent|per cent)|%"
    r"|(?:fast|slow|quick|cheap|light|heav[iy]|small|larg|bigg|short|long)(?:er|est)?|big|quickly|slowly"
    r"|instant\w*|ahead|behind|beat(?:s|ing|en)?|win(?:s|ner)?|wins|won|los(?:e|es|er|t)|lead(?:s|er|ing)?"
    r"|lag(?:s|ging)?|trail(?:s|ing)?|outperforms?|similar(?:ly)?|equal(?:ly)?|identical|tie[sd]?|close"
    r"|far|better|worse|best|worst|first|last|second place|rank\w*|below|under|above|over|within|beyond"
    r"|exceed\w*|sub-\w+|budget|real[- ]?time|negligible|tiny|huge|great|good|bad|fine|acceptable"
    r"|unacceptable|noticeabl[ey]|unnoticeable|blazing\w*|modest|excellent|respectable|snappy|sluggish|gap"
    r"|difference|advantage|saving|saves?|overhead|(?:it|in|the) second|as well|likewise|why|therefore|hence"
)
_CONDITIONS: Final = (
    r"windows|macs?|mac ?os|os ?x|linux|ubuntu|debian|alpine|freebsd|android|ios|raspberry(?: pi)?"
    r"|arm(?:64|v\d)?|aarch64|x86\w*|amd\w*|intel|ryzen|xeon|apple|m[1-9](?: (?:pro|max|ultra))?"
    r"|macbook\w*|pypy|cpython|graalvm|jvm|wasm|webassembly|docker|browsers?|chrome|firefox|safari"
    r"|node(?:\.js)?|bun|deno|gpus?|cpus?|cores?|debug|cold|warm(?:ed)?|hot|(?:un)?cached|battery|staging"
    r"|production|cluster|network|ssds?|hdds?|nfs|simd|avx\w*|gil|jit|single-\w+|multi-\w+|python ?\d\S*"
    r"|beta|alpha version|nightly|fork(?:ed)?|patch(?:ed)?|prototype|draft|estimat\w*|guess\w*|claim\w*"
    r"|alleged\w*|reported|according|somebody|someone|theor\w+|hypothe\w+|imagine|suppose|hopes?|hoped|wish\w*|wants?|wanted|would|could"
    r"|might|may|will|soon"
)
_UNMEASURED: Final = (
    r"(?:not|never|nobody|n['’]t)\s(?:\w+\s){0,2}(?:measure|test|benchmark|verif|check|update|run)\w*"
)
_TOPICS: Final = (
    r"start-?up|boot|imports?|importing|install\w*|compil\w+|builds?|building|binary|wheels?|download\w*"
    r"|energy|power|roadmap|plans?|planned|future|ideas?|history|change ?log|archive\w*|legacy|deprecated"
    r"|competitors?|others?"
)
"""What a heading says a section is about that is another thing than a benchmark."""
_SETTINGS: Final = r"(?:configur\w+|config|settings?|options?|requirements?|prerequisites)"
_VERSION: Final = r"v?\d+(?:\.\d+)+(?=\s*(?:\Z|[(–—-]))"
_WORDS: Final = {
    "its words speak of another time": _EARLIER,
    "its words speak of several rows": _SEVERAL,
    "its words speak of what is wanted": _WANTED,
    "its words judge this figure, and the next may be another": _FITTING,
}
_PATTERNS: Final = {
    reason: re.compile(rf"(?<![\w.,-])(?:{words})(?![\w-])", re.IGNORECASE)
    for reason, words in _WORDS.items()
}


def _compile_any(*words: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w.-])(?:{'|'.join(words)})(?![\w-])", re.IGNORECASE)


_OTHERWISE: Final = (_EARLIER, _WANTED, _CONDITIONS, _UNMEASURED)
"""What says of a figure that it is of another time or machine, is wanted, or was not measured."""
_BESIDE: Final = _compile_any(*_OTHERWISE)
_TOPIC: Final = _compile_any(*_OTHERWISE, _TOPICS, _MEASURES)
_HEADED: Final = _compile_any(_SETTINGS, _VERSION, *_OTHERWISE, _TOPICS, _MEASURES)
_JUDGING: Final = _compile_any(_FITTING, *_OTHERWISE)
_OF_ROWS: Final = re.compile(
    r"\b(?:versions?|releases?|since|dates?|day|years?|commits?|revisions?|python|os|platforms?|machines?|cpus?)\b",
    re.IGNORECASE,
)
"""Headers above what the row of another run need not have."""
_OF_ITS_OWN: Final = re.compile(r"\s*(?:and|but|while|whereas|because)\b", re.IGNORECASE)
_ABOUT_NUMBERS: Final = re.compile(
    r"\W*(?:these|those|the following|all|our|the)\s(?:\w+\s)?"
    r"(?:are|were|numbers|figures|results|values|times|timings|measurements)\b"
    rf"|.*(?:{AHEAD})",
    re.IGNORECASE | re.DOTALL,
)
"""What says which figures are given: how a sentence begins, or what it has."""
_BELOW: Final = re.compile(r"\b(?:below|following)\b", re.IGNORECASE)
_CONDITION: Final = re.compile(
    r"\A\W*(?:with|from|by|at|in)\s.*|\b(?:without|under|on|using|inside)\s.*", re.IGNORECASE | re.DOTALL
)
"""What a heading has, or begins with, that says where or how something was measured."""
_PAST: Final = r"\b(?:took|was|were|had|did|ran|needed|required)\b"
_CHANGED: Final = re.compile(
    rf"{_PAST}.*\bnow\b|\bnow\b.*{_PAST}|\btook\b.*\btakes?\b|\btakes?\b.*\btook\b",
    re.IGNORECASE | re.DOTALL,
)
"""What says how something was beside how it is."""
_NOW: Final = re.compile(r"\W*(?:by\s)?now\b", re.IGNORECASE)
_SAID: Final = re.compile('["“”«»]')


def find_doubt(figure: Figure, clause: Clause, known: str) -> str:
    """The reason to leave a figure that a cell has; "" without one.

    ``known`` is how the row and the column of the cell are called: words that are a part of it say nothing else.
    """
    end = clause.at + len(figure.written)
    behind = clause.words[end:]
    if figure.bound is not None or _BOUND.search(clause.words[: clause.at]) or _BOUND_BEHIND.match(behind):
        return "it bounds what a cell has"
    for reason, pattern in _PATTERNS.items():
        found = (one for part in (clause.words[: clause.at], behind) for one in pattern.findall(part))
        if any(not _is_part(one, known) for one in found):
            return reason
    return ""


def find_doubt_around(around: Around, clause: Clause, quoted: Quoted) -> str:
    """The reason to leave a figure for what stands around its clause; "" without one."""
    if around.is_quotation:
        return "it stands in a quotation"
    if around.ends == "?":
        return "its sentence asks"
    following = around.next if _NOW.match(around.next) else ""
    if _CHANGED.search(" ".join((*around.leading, clause.words, *around.trailing, following))):
        return "its sentence says how it was and is"
    for text in (*around.introducing, *around.leading, *around.trailing):
        if _SAID.search(text):
            return "its sentence quotes somebody"
    about_numbers = (
        _BELOW.sub("", one) for one in SENTENCE_END.split(around.before) if _ABOUT_NUMBERS.match(one)
    )
    conditions = (found[0] for one in around.above if (found := _CONDITION.search(one)))
    for text in (*around.introducing, *around.leading, *about_numbers, *conditions):
        if other := find_other_part(text, quoted):
            return f"before it, {other}"
    for text in around.trailing:
        is_own = _OF_ITS_OWN.match(text) or any(figures(text, quoted.nouns))
        other = _quote(_JUDGING, text, quoted) if is_own else find_other_part(text, quoted)
        if other:
            return f"behind it, {other}"
    about = _BESIDE if any(figures(around.before, quoted.nouns)) else _TOPIC
    for pattern, text in (
        (_JUDGING, around.next),
        (_BESIDE, around.behind),
        (about, around.before),
        *((_HEADED, one) for one in around.above),
    ):
        if other := _quote(pattern, text, quoted):
            return f"near it, {other}"
    return ""


def find_doubt_in_row(row: str, headers: str, quoted: Quoted) -> str:
    """The reason to leave a figure for what other cells of its typed row and its headers say; "" without one."""
    other = _quote(_BESIDE, row, quoted) or _quote(_OF_ROWS, headers, quoted)
    return f"in its row, {other}" if other else ""


def _quote(pattern: re.Pattern[str], text: str, quoted: Quoted) -> str:
    """What words of a pattern a text has that are no name of a row and not about the table; "" without one."""
    for found in pattern.finditer(blank_names_of_rows(text, quoted)):
        if not {*map(stem, list_words(found[0]))} <= quoted.stems:
            return f"`{found[0]}` may say what no cell does"
    return ""


def _is_part(words: str, known: str) -> bool:
    return re.search(name_pattern(words), known, re.IGNORECASE) is not None
