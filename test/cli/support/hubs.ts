/** Hubs of several state directories on this machine: real daemons, gateways and commands. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type Commands, type Running, until } from "./commands.ts";

export interface HubUnderTest {
  readonly commands: Commands;
  readonly server: Running;
  /** The address of its gateway. */
  readonly url: string;
}

/** `more`: its agents. `port`: that of its gateway before, or 0. */
export const serveHub = async (
  commands: Commands,
  name: string,
  port: string,
  more: readonly string[] = [],
  env: Readonly<Record<string, string>> = {},
): Promise<HubUnderTest> => {
  const argv = ["weblisk", "serve", "--listen", "0", "--federation", port, "--hub", name, ...more];
  const server = commands.start(argv, env);
  await until(() => {
    const { exitCode, signalCode } = server.child;
    if (exitCode !== null || signalCode !== null) throw new Error(server.err());
    return server.out().split("\n").length > 2;
  });
  return { commands, server, url: server.out().split("\n")[1]! };
};

export const killRunning = async ({ child, ended }: Running): Promise<void> => {
  child.kill("SIGKILL");
  await ended;
};

/** The contents of all files of its state directory. */
export const filesOf = ({ commands }: Pick<HubUnderTest, "commands">): readonly string[] =>
  readdirSync(commands.home, { recursive: true, withFileTypes: true })
    .filter((one) => one.isFile())
    .map((one) => readFileSync(join(one.parentPath, one.name), "latin1"));

export interface TrailEntry {
  readonly action: string;
  readonly status: string;
  readonly digest: unknown;
  readonly fields: unknown;
}

/** Entries of its trail by the ids of their tasks, without what only one side knows. */
export const trailsOf = async ({
  commands,
}: Pick<HubUnderTest, "commands">): Promise<ReadonlyMap<string, readonly TrailEntry[]>> => {
  const { entries } = (await commands.agent("audit", "list", "--limit", "500")).data as {
    entries: { action: string; status: string; detail: Record<string, unknown> }[];
  };
  const found = new Map<string, TrailEntry[]>();
  for (const { action, status, detail } of entries) {
    const { task_id, digest, fields } = detail;
    if (typeof task_id !== "string") continue;
    const of = found.get(task_id) ?? [];
    of.push({ action, status, digest, fields });
    found.set(task_id, of);
  }
  return found;
};
