/** agent changes and agent worktree remove: the agents' work in their worktrees. */
import { success } from "../../protocol/outcome.ts";
import type { CommandHandler } from "../context.ts";
import type { Call } from "../parse.ts";
import { neutralise } from "../render/terminal.ts";
import { perWorker } from "./per-worker.ts";

export const changesProblems = ({ flags }: Call): readonly string[] =>
  flags.stat && flags["name-only"] ? ["agent changes takes --stat or --name-only, not both"] : [];

/** In text mode it prints the diff itself, as git does. */
export const changes: CommandHandler = async (context) => {
  const { call, flags, mode, stateDir, env } = context;
  const client = await context.connect();
  const done = context.progress("asking git");
  const reply = await client.request("agent/changes", { id: call.args[0]! }).finally(done);
  const { totals, diff } = reply;
  if (diff?.masked) context.warn("Secrets in the diff are masked; those places cannot be applied.");
  if (totals.files > 0 && diff === null)
    context.warn(`The diff is too large to keep. See it with: git -C ${reply.workspace.path} diff`);
  if (totals.files === 0) context.hint("Nothing has changed.");
  if (mode !== "text" || flags.stat || flags["name-only"] || diff === null) return success(reply);
  const { artifactsIn } = await import("../../daemon/artifacts.ts");
  const bytes = await artifactsIn(stateDir, env).get(diff.digest);
  const isForPerson = context.isStdoutTerminal;
  await context.stdout(isForPerson ? neutralise(Buffer.from(bytes).toString("utf8")) : bytes);
  return success(reply);
};

export const removeWorktrees: CommandHandler = async (context) => {
  const client = await context.connect();
  const done = context.progress("asking git");
  const outcome = await client.ask("worktree/remove", { ids: [...context.call.args] }).finally(done);
  return outcome.value?.results ? perWorker(outcome.value.results) : outcome;
};
