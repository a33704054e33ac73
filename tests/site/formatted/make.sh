#!/bin/sh
# What formatters of Markdown make of page.md with its figures; written anew in this folder by
# npm install prettier@3 markdownlint-cli2 remark-cli remark-gfm && pip install mdformat==0.7.22 markdown-it-py==3 mdformat-gfm && sh make.sh
set -e
cp page.md source.md
mongo-tables render --in-place page.md --results m.jsonl
cp page.md written.md
try() {
    name=$1
    shift
    "$@" page.md > /dev/null 2>&1 || echo "$name: exit status $?"
    mv page.md "$name.md"
    cp written.md page.md
}
try prettier npx prettier --write
try prettier-wrap npx prettier --prose-wrap always --tab-width 4 --write
try markdownlint npx markdownlint-cli2 --fix
try mdformat mdformat
try remark npx remark -u remark-gfm -o --quiet
mv source.md page.md
rm page.ch.svg written.md
