/** Prints the HTML of a page of MDX. Components of the page are elements `div`. */

import { readFile } from "node:fs/promises";

import { evaluate } from "@mdx-js/mdx";
import { createElement } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import * as runtime from "react/jsx-runtime";
import remarkDirective from "remark-directive";
import remarkEmoji from "remark-emoji";
import remarkFrontmatter from "remark-frontmatter";
import remarkGfm from "remark-gfm";

const text = (await readFile(process.argv[2], "utf8")).replace(/^import .*$/m, "");
const remarkPlugins = [remarkFrontmatter, remarkDirective, restoreDirectives, remarkEmoji, remarkGfm];
const page = await evaluate(text, { ...runtime, format: "mdx", remarkPlugins });
const Part = ({ children }) => createElement("div", null, children);
process.stdout.write(renderToStaticMarkup(createElement(page.default, { components: { Tabs: Part, TabItem: Part } })));
process.stdout.write("\n");

/** Docusaurus shows a directive that it does not know as the text that it was made of. */
function restoreDirectives() {
  return (tree, file) => visit(tree, String(file));
}

function visit(node, source) {
  for (const [index, child] of (node.children ?? []).entries()) {
    if (child.type === "textDirective") {
      const value = source.slice(child.position.start.offset, child.position.end.offset);
      node.children[index] = { type: "text", value };
    } else {
      visit(child, source);
    }
  }
}
