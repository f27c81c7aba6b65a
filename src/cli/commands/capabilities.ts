/** `agent capabilities`: the kinds of agent, and where their programs are. */
import { success } from "../../protocol/outcome.ts";
import type { CommandHandler, Context } from "../context.ts";
import { tellLeftOut } from "./added-kinds.ts";
import { findProgram } from "./programs.ts";

export const capabilities: CommandHandler = async (context) => {
  const client = await context.connect({ start: true });
  const { kinds, refused } = await client.request("agent/capabilities", { kind: context.call.args[0] });
  tellLeftOut(context, { refused });
  return success({
    kinds: kinds.map(({ variables: _, default_restart: _restart, variable, ...each }) => ({
      ...each,
      path: pathOf(each.binary, variable, context.env),
    })),
  });
};

/** The path at which `agent spawn` would find the kind's program now; null if the kind has none, or it was not found. */
const pathOf = (binary: string | null, variable: string | null, env: Context["env"]): string | null =>
  binary === null ? null : (findProgram((variable !== null && env[variable]) || binary, env) ?? null);
