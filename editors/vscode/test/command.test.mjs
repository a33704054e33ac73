import assert from "node:assert/strict";
import { resolve } from "node:path";
import { test } from "node:test";
import { build } from "esbuild";

const built = await build({ entryPoints: ["src/command.ts"], format: "esm", write: false });
const address = `data:text/javascript,${encodeURIComponent(built.outputFiles[0]?.text ?? "")}`;
const { serverCommand } = /** @type {typeof import("../src/command.js")} */ (await import(address));

const DEFAULTS = { command: "mongo-tables", results: "", database: false };
const FOLDER = resolve("/site");

test("without settings the program on the PATH is started, and no database is asked", () => {
  assert.deepEqual(serverCommand(DEFAULTS, FOLDER), { command: "mongo-tables", args: ["lsp"] });
});

test("a path is one within the folder, or in full", () => {
  const started = (/** @type {string} */ command) => serverCommand({ ...DEFAULTS, command }, FOLDER).command;
  assert.equal(started(".venv/bin/mongo-tables"), resolve(FOLDER, ".venv/bin/mongo-tables"));
  assert.equal(started(resolve("/opt/mongo-tables")), resolve("/opt/mongo-tables"));
});

test("other results, and a database, are asked where the user says so", () => {
  const settings = { ...DEFAULTS, results: "mongodb://localhost/results", database: true };
  assert.deepEqual(serverCommand(settings, FOLDER).args, ["lsp", "--results=mongodb://localhost/results", "--database"]);
});
