/** What starts the server. */

import { resolve } from "node:path";

/** What a user has set. */
export interface Settings {
  readonly command: string;
  readonly results: string;
  readonly database: boolean;
}

export interface Command {
  readonly command: string;
  readonly args: string[];
}

/** The program and its arguments, for a folder. A name is sought on the PATH, a path within the folder. */
export function serverCommand(settings: Settings, folder: string): Command {
  const { command, results, database } = settings;
  return {
    command: /[\\/]/.test(command) ? resolve(folder, command) : command,
    args: ["lsp", ...(results ? [`--results=${results}`] : []), ...(database ? ["--database"] : [])],
  };
}
