/** agent mcp list, get, add, remove: the MCP servers in an agent CLI's own configuration. */
import { resolve } from "node:path";
import { MCP_TIMEOUT_DEFAULT_MS } from "../../base/limits.ts";
import type { McpReply } from "../../daemon/mcp.ts";
import { success } from "../../protocol/outcome.ts";
import type { CommandHandler } from "../context.ts";
import { sentEnvironment } from "./spawn-spec.ts";

const pairsOf = (flag: unknown): Record<string, string> =>
  Object.fromEntries((flag as [string, string][] | undefined) ?? []);

/** The effect if the CLI's exit code reports success. */
const EFFECTS: Readonly<Record<string, string>> = { add: "created", remove: "deleted" };

const handler =
  (does: "list" | "get" | "add" | "remove"): CommandHandler =>
  async (context) => {
    const { call, flags, stateDir } = context;
    const env = pairsOf(flags.env);
    const { manageMcp } = await import("../../daemon/mcp.ts");
    const reply: McpReply = await manageMcp({
      stateDir,
      kind: call.args[0]!,
      cwd: resolve(context.cwd, (flags.cwd as string | undefined) ?? "."),
      client_env: sentEnvironment(
        Object.values(env).flatMap((value) => /^@env:(.+)$/s.exec(value)?.[1] ?? []),
        context,
      ),
      env,
      timeout_ms: (flags.timeout as number | undefined) ?? MCP_TIMEOUT_DEFAULT_MS,
      asked: {
        do: does,
        name: call.args[1],
        command: call.argv,
        env: pairsOf(flags["server-env"]),
        url: flags.url as string | undefined,
        bearer_env_var: flags["bearer-env-var"] as string | undefined,
      },
    });
    if (reply.exit_code !== 0)
      context.warn(
        `The program ended with ${reply.signal ?? `code ${reply.exit_code}`}: what it printed says why.`,
      );
    const done = EFFECTS[does];
    return success(done === undefined ? reply : { ...reply, effect: reply.exit_code === 0 ? done : "noop" });
  };

export const list = handler("list");
export const get = handler("get");
export const add = handler("add");
export const remove = handler("remove");
