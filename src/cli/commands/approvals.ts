/** agent approvals, approvals approve, approvals deny, and cancel: what agents ask permission for, and how to end a turn. */

import { commandLine } from "../../base/shell.ts";
import { success } from "../../protocol/outcome.ts";
import { type CommandHandler, type Context, keyOf } from "../context.ts";
import { pageAsked, pageShown } from "./paging.ts";

export const approvals: CommandHandler = async (context) => {
  const all = context.flags.all === true;
  const [typed] = context.call.args;
  const id = typed === "list" ? undefined : typed;
  const page = await (await context.connect()).request("agent/approvals", {
    id,
    all,
    ...pageAsked(context),
  });
  const words = ["agent", "approvals", ...(id === undefined ? [] : [id])];
  if (page.approvals.length === 0) context.hint(nothingOf(id, all, [...words, "--all"]));
  return pageShown(context, page, { words, there: "There are more" });
};

const nothingOf = (id: string | undefined, all: boolean, withAnswered: readonly string[]): string => {
  const who = id === undefined ? "Nobody" : `Worker ${id}`;
  if (all) return `${who} has asked for ${id === undefined ? "a" : "no"} permission yet.`;
  const waits = `${who} waits for ${id === undefined ? "a" : "no"} permission.`;
  return `${waits} See answered ones with: ${commandLine(withAnswered)}`;
};

const decided =
  (decision: "allow" | "deny"): CommandHandler =>
  async ({ call, flags, connect }: Context) =>
    success(
      await (await connect()).request("agent/approve", {
        id: call.args[0]!,
        decision,
        message: flags.reason as string | undefined,
        idempotency_key: keyOf({ flags }),
      }),
    );

export const approve = decided("allow");
export const deny = decided("deny");

export const cancel: CommandHandler = async ({ call, flags, connect }) =>
  success(
    await (await connect()).request("agent/cancel", {
      id: call.args[0]!,
      idempotency_key: keyOf({ flags }),
    }),
  );
