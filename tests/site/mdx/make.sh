#!/bin/sh
# What MDX 3 and React make of page.mdx with its figures, with the plugins of Docusaurus; written anew in this folder by
# npm install @mdx-js/mdx@3 remark-gfm@4 remark-frontmatter@5 remark-directive@3 remark-emoji@4 react react-dom && sh make.sh
set -e
cp page.mdx source.mdx
mongo-tables render page.mdx --results m.jsonl > rendered.mdx
mongo-tables render --in-place page.mdx --results m.jsonl
mv page.mdx written.mdx
mv source.mdx page.mdx
for name in written rendered; do node make.mjs $name.mdx > $name.html; done
rm page.ch.svg
