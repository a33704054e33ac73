import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { coloured, tokens } from "./tokens.mjs";

const TABLE = `<!-- MONGO_TABLE: {
  "collection": "runs",
  "pipeline": [{"$group": {"_id": "$threads", "qps": {"$max": -1.5e3}}}],
  "total": true
} -->`;
const KEY = "support.type.property-name.json";
const STRING = "string.quoted.double.json";
const OPERATOR = "support.function.mongo-tables";
const PATH = "variable.other.mongo-tables";
const KEYWORD = "keyword.other.mongo-tables";

/**
 * What the words of our comments are, without quotes.
 *
 * @param {string} text
 */
function meanings(text) {
  return coloured(text)
    .map(([piece, scope]) => [piece?.replaceAll('"', ""), scope])
    .filter(([piece, scope]) => piece && !scope?.startsWith("punctuation"));
}

/** @param {string} text */
function keywords(text) {
  return coloured(text)
    .filter(([, scope]) => scope === KEYWORD)
    .map(([word]) => word);
}

test("the JSON of a comment has colours by what it means", () => {
  assert.deepEqual(meanings(TABLE), [
    ["MONGO_TABLE", KEYWORD],
    ["collection", KEY],
    ["runs", STRING],
    ["pipeline", KEY],
    ["$group", OPERATOR],
    ["_id", KEY],
    ["$threads", PATH],
    ["qps", KEY],
    ["$max", OPERATOR],
    ["-1.5e3", "constant.numeric.json"],
    ["total", KEY],
    ["true", "constant.language.json"],
  ]);
});

test("what surrounds the JSON is a comment, what is in it is none", () => {
  const found = tokens(TABLE);
  const scopes = (/** @type {string} */ text) => found.find((one) => one.text === text)?.scopes ?? [];
  assert.ok(scopes("<!--").some((scope) => scope.startsWith("comment")));
  assert.ok(scopes("-->").some((scope) => scope.startsWith("comment")));
  assert.ok(scopes("runs").includes("meta.embedded.block.mongo-tables"));
  assert.ok(!scopes("runs").some((scope) => scope.startsWith("comment")));
});

test("behind a comment Markdown goes on", () => {
  const found = tokens(`${TABLE}\n\n# Speeds\n`);
  const heading = found.find((one) => one.text === "Speeds");
  assert.ok(heading?.scopes.includes("entity.name.section.markdown"));
});

test("several comments of a page, of a line and of a sentence are coloured each", () => {
  const value = '<!-- RESULT_VALUE: {"table": "a"} -->';
  assert.deepEqual(keywords(`${TABLE}\n${TABLE}\n\nFrom ${value} to **${value}**, ${value}.\n\n- ${value}\n\n> ${value}\n`), [
    "MONGO_TABLE",
    "MONGO_TABLE",
    ...Array.from({ length: 5 }, () => "RESULT_VALUE"),
  ]);
});

for (const [place, text] of /** @type {[string, string][]} */ ([
  ["a fence", "```\n" + TABLE + "\n```"],
  ["a fence of Markdown", "~~~markdown\n" + TABLE + "\n~~~"],
  ["a code span", 'Write `<!-- MONGO_VALUE: {"table": "a"} -->` here.'],
  ["an indented block", `Text:\n\n    ${TABLE.replaceAll("\n", "\n    ")}`],
  ["another comment", `<!-- Later:\n<!-- MONGO_TABLE: {"collection": "runs"}\n-->`],
  ["front matter", `---\ntitle: <!-- MONGO_VALUE: {"table": "a"} -->\n---\n`],
])) {
  test(`within ${place} nothing is coloured, behind it is`, () => {
    assert.deepEqual(coloured(text), []);
    assert.deepEqual(keywords(`${text}\n\n${TABLE}\n`), ["MONGO_TABLE"]);
  });
}

test("other comments stay comments", () => {
  assert.deepEqual(coloured("<!-- MONGODB: a note -->\n<!-- RESULTS:START -->\n<!-- TODO -->"), []);
});

test("pages with CRLF look as those with LF do", () => {
  const page = "# Speeds\n\n```\n" + TABLE + "\n```\n\n" + TABLE + "\n\nText.\n\n" + TABLE;
  const expected = coloured(page);
  assert.deepEqual(keywords(page), ["MONGO_TABLE", "MONGO_TABLE"]);
  assert.deepEqual(coloured(page.replaceAll("\n", "\r\n")), expected);
  assert.deepEqual(coloured(page.replaceAll("\n", "\r\n"), /\n/), expected);
});

test("a string that is being typed ends with its line, and before the end of the comment", () => {
  assert.deepEqual(meanings('<!-- MONGO_TABLE: {"collection": "ru\n} -->').at(-1), ["ru", STRING]);
  const found = tokens('<!-- MONGO_VALUE: {"table": "a} --> Text.');
  assert.equal(found.at(-1)?.text, " Text.");
  assert.ok(!found.at(-1)?.scopes.some((scope) => scope.includes("mongo-tables")));
});

test("escapes in strings are seen, and those that JSON has not are marked", () => {
  assert.deepEqual(coloured('<!-- MONGO_TABLE: {"title": "a\\n\\q"} -->').filter(([text]) => text?.startsWith("\\")), [
    ["\\n", "constant.character.escape.json"],
    ["\\q", "invalid.illegal.unrecognized-string-escape.json"],
  ]);
});
