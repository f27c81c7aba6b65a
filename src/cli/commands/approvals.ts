/** agent approvals, approvals approve, approvals deny, and cancel: what agents ask before they act, and how a turn is ended. */

import { commandLine } from "../../base/shell.ts";
import { success } from "../../protocol/outcome.ts";
import type { Context, Handler } from "../context.ts";

export const approvals: Handler = async (context) => {
  const { all, limit, cursor } = context.flags as { all?: boolean; limit?: number; cursor?: string };
  const [typed] = context.call.args;
  const id = typed === "list" ? undefined : typed;
  const page = await (await context.connect()).request("agent/approvals", {
    id,
    all: all === true,
    limit,
    cursor,
  });
  const again = ["agent", "approvals", ...(id === undefined ? [] : [id])];
  if (page.approvals.length === 0) context.hint(nothingOf(id, all === true, [...again, "--all"]));
  if (page.cursor === undefined) return success(page);
  const flags = [...(all ? ["--all"] : []), ...(limit === undefined ? [] : ["--limit", String(limit)])];
  context.warn(`There are more: ${commandLine([...again, ...flags, "--cursor", page.cursor])}`);
  return { ...success(page), meta: { truncated: true, cursor: page.cursor } };
};

const nothingOf = (id: string | undefined, all: boolean, withAnswered: readonly string[]): string => {
  const who = id === undefined ? "Nobody" : `Worker ${id}`;
  if (all) return `${who} has asked for ${id === undefined ? "a" : "no"} permission yet.`;
  const waits = `${who} waits for ${id === undefined ? "a" : "no"} permission.`;
  return `${waits} See answered ones with: ${commandLine(withAnswered)}`;
};

const decided =
  (decision: "allow" | "deny"): Handler =>
  async ({ call, flags, connect }: Context) =>
    success(
      await (await connect()).request("agent/approve", {
        id: call.args[0]!,
        decision,
        message: flags.reason as string | undefined,
        idempotency_key: flags["idempotency-key"] as string | undefined,
      }),
    );

export const approve = decided("allow");
export const deny = decided("deny");

export const cancel: Handler = async ({ call, flags, connect }) =>
  success(
    await (await connect()).request("agent/cancel", {
      id: call.args[0]!,
      idempotency_key: flags["idempotency-key"] as string | undefined,
    }),
  );
