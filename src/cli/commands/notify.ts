/** agent notify …: the targets of notifications, and a test of them. */
import { HoldfastError } from "../../protocol/errors.ts";
import { success } from "../../protocol/outcome.ts";
import type { CommandHandler } from "../context.ts";
import type { Call } from "../parse.ts";

export const list: CommandHandler = async (context) => {
  const reply = await (await context.connect()).request("notify/list", {});
  if (reply.targets.length === 0)
    context.hint("No target is configured: see notifications: in docs/how-to/notifications.md");
  return success(reply);
};

export const resendProblems = ({ args, flags }: Call): readonly string[] =>
  args.length > 0 === (flags.all === true)
    ? ["agent notify resend needs the ids of notifications, or --all"]
    : [];

export const resend: CommandHandler = async (context) => {
  const { call, flags } = context;
  const ids = call.args.map((id) => id.toUpperCase());
  const reply = await (await context.connect()).request("notify/resend", { ids, all: flags.all === true });
  if (reply.results.length === 0) context.hint("No notification was given up.");
  return success(reply);
};

export const test: CommandHandler = async ({ call, connect }) => {
  const [target] = call.args;
  const reply = await (await connect()).request("notify/test", { target });
  const failed = reply.results.filter(({ ok }) => !ok);
  const [first] = failed;
  if (first === undefined) return success(reply);
  throw new HoldfastError("UNAVAILABLE", `${first.target} took no notification: ${first.reason}`, {
    suggestion: "Correct it in config.yaml, and restart the daemon: its agents go on.",
    details: { results: reply.results.map((result) => ({ ...result })) },
  });
};
