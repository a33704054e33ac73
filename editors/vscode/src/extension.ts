/** Has `mongo-tables lsp` look at the pages and shared pipelines of the folder that is open. */

import { homedir } from "node:os";

import { commands, window, workspace, type ExtensionContext } from "vscode";
import { LanguageClient } from "vscode-languageclient/node";

import { serverCommand } from "./command";

const NAME = "mongo-tables";
const LANGUAGES = ["markdown", "mdx", "json"];
const INSTALL =
  "pip install 'mongo-tables[lsp]' brings the server of mongo-tables; the setting mongo-tables.command says where it is.";

let client: LanguageClient | undefined;

export async function activate(context: ExtensionContext): Promise<void> {
  context.subscriptions.push(
    commands.registerCommand("mongo-tables.restart", restart),
    workspace.onDidChangeConfiguration((change) => (change.affectsConfiguration(NAME) ? restart() : undefined)),
  );
  await start();
}

export async function deactivate(): Promise<void> {
  const running = client;
  client = undefined;
  if (running?.needsStop()) await running.stop();
}

async function restart(): Promise<void> {
  await deactivate();
  await start();
}

async function start(): Promise<void> {
  const folder = workspace.workspaceFolders?.[0];
  if (folder?.uri.scheme !== "file") return;
  const set = workspace.getConfiguration(NAME);
  const settings = {
    command: set.get("command", NAME),
    results: set.get("results", ""),
    database: set.get("database", false),
  };
  // Windows seeks a program where it is started, too: that is not to be the folder. The server goes there by itself.
  const server = { ...serverCommand(settings, folder.uri.fsPath), options: { cwd: homedir() } };
  const documentSelector = LANGUAGES.map((language) => ({ scheme: "file", language }));
  client = new LanguageClient(NAME, server, { documentSelector, workspaceFolder: folder });
  try {
    await client.start();
  } catch {
    // Why, the client has said.
    void window.showErrorMessage(INSTALL);
  }
}
