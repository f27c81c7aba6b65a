/** agent approvals, approvals approve, approvals deny, and cancel: what agents ask before they act, and how a turn is ended. */
import { success } from "../../protocol/outcome.ts";
import type { Context, Handler } from "../context.ts";

export const approvals: Handler = async (context) => {
  const { all, limit, cursor } = context.flags as { all?: boolean; limit?: number; cursor?: string };
  const [id] = context.call.args;
  const page = await (await context.connect()).request("agent/approvals", {
    id: id === "list" ? undefined : id,
    all: all === true,
    limit,
    cursor,
  });
  if (page.approvals.length === 0)
    context.hint(
      all
        ? "Nobody has asked for a permission yet."
        : "Nobody waits for a permission. See answered ones with: agent approvals --all",
    );
  if (page.cursor === undefined) return success(page);
  context.warn(`There are more: agent approvals${all ? " --all" : ""} --cursor ${page.cursor}`);
  return { ...success(page), meta: { truncated: true, cursor: page.cursor } };
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
