/** Tokens of Markdown by VS Code's grammar of it, into which ours is injected, as the editor does it. */

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import oniguruma from "vscode-oniguruma";
import textmate from "vscode-textmate";

const require = createRequire(import.meta.url);
const MARKDOWN = "text.html.markdown";
const OURS = "markdown.mongo-tables";
/** @type {Record<string, string>} */
const FILES = {
  [MARKDOWN]: require.resolve("tm-grammars/grammars/markdown.json"),
  "text.html.derivative": require.resolve("tm-grammars/grammars/html-derivative.json"),
  "text.html.basic": require.resolve("tm-grammars/grammars/html.json"),
  "source.json": require.resolve("tm-grammars/grammars/json.json"),
  "source.yaml": require.resolve("tm-grammars/grammars/yaml.json"),
  [OURS]: new URL("../syntaxes/mongo-tables.tmLanguage.json", import.meta.url).pathname,
};

await oniguruma.loadWASM(readFileSync(require.resolve("vscode-oniguruma/release/onig.wasm")));
const registry = new textmate.Registry({
  onigLib: Promise.resolve({
    createOnigScanner: (sources) => new oniguruma.OnigScanner(sources),
    createOnigString: (text) => new oniguruma.OnigString(text),
  }),
  loadGrammar: (scope) => {
    const file = FILES[scope];
    return Promise.resolve(file ? textmate.parseRawGrammar(readFileSync(file, "utf8"), file) : null);
  },
  getInjections: (scope) => (scope === MARKDOWN ? [OURS] : undefined),
});
const grammar = await registry.loadGrammar(MARKDOWN);

/**
 * What each piece of a text is: its scopes, the outermost first.
 *
 * @param {string} text
 * @param {RegExp} ends what ends a line
 */
export function tokens(text, ends = /\r\n|\r|\n/) {
  if (!grammar) throw new Error("there is no grammar of Markdown");
  const found = [];
  let stack = textmate.INITIAL;
  for (const line of text.split(ends)) {
    const read = grammar.tokenizeLine(line, stack);
    stack = read.ruleStack;
    for (const one of read.tokens) found.push({ text: line.slice(one.startIndex, one.endIndex), scopes: one.scopes });
  }
  return found;
}

/**
 * The innermost scope of each piece within our comments, without blanks.
 *
 * @param {string} text
 * @param {RegExp} [ends]
 */
export function coloured(text, ends) {
  return tokens(text, ends)
    .filter((one) => one.scopes.some((scope) => scope.includes("mongo-tables")) && one.text.trim())
    .map((one) => [one.text.trim(), one.scopes.at(-1)]);
}
