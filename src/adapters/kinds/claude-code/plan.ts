/**
 * How Claude Code runs headless: `claude -p` with stream-json on stdout (`--verbose` is mandatory with it) and the prompt
 * on stdin, which ends. A prompt never becomes an argument: it could begin with a dash, or be over the kernel's limit.
 * An interactive one reads stream-json too, on a stdin that stays open, and shows each message again once it has it.
 */

import { agentOptions, EXTERNAL_SANDBOX_WARNING } from "../../../protocol/extensions.ts";
import type { LaunchPlan, PlanContext } from "../../adapter.ts";
import { asksPermission } from "../../decoding/agent-rules.ts";
import { converses } from "./converses.ts";

/**
 * Nothing but the work: no self-update, no telemetry. The CLI's own default of 10 retries (190 s, agent-clis.md §5) is
 * made explicit, so that it stays well under the stall limit whatever the version; `--env` wins over all three.
 */
const ENVIRONMENT = {
  DISABLE_AUTOUPDATER: "1",
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
  CLAUDE_CODE_MAX_RETRIES: "10",
} as const;

/** As root it refuses to run without permission checks, unless it is told that something else confines it. */
const CONFINED = { IS_SANDBOX: "1" } as const;

export const plan = ({ spec, session: known, binary }: PlanContext): LaunchPlan => {
  const { model, session, fork, addDirs, externalSandbox } = agentOptions(spec);
  const argv = [binary, "-p", "--output-format", "stream-json", "--verbose"];
  if (converses(spec)) argv.push("--input-format", "stream-json", "--replay-user-messages");
  if (asksPermission(spec)) argv.push("--permission-prompt-tool", "stdio");
  if (model !== undefined) argv.push("--model", model);
  if (known !== undefined) {
    argv.push("--resume", known);
  } else if (session !== undefined) {
    if (session.by === "id") argv.push("--resume", session.id);
    else argv.push("--continue");
    if (fork) argv.push("--fork-session");
  }
  for (const dir of addDirs) argv.push("--add-dir", dir);
  // Without it, what would need a permission is denied and the run goes on (agent-clis.md §8).
  if (externalSandbox || (spec.permission === "allow" && !asksPermission(spec)))
    argv.push("--permission-mode", "bypassPermissions");
  // It asks about nothing that its own settings allow: what is never allowed is taken away from it.
  const never = spec.permission_rules.filter(
    ({ action, argument }) => action === "deny" && argument === undefined,
  );
  if (never.length > 0) argv.push("--disallowedTools", never.map(({ tool }) => tool).join(","));
  // It counts the steps of one answer, which are the turns of a single prompt and not those of a conversation.
  if (spec.budget.turns !== undefined && !spec.interactive)
    argv.push("--max-turns", String(spec.budget.turns));
  if (spec.budget.usd !== undefined) argv.push("--max-budget-usd", String(spec.budget.usd));
  argv.push(...spec.argv);
  const stdin = converses(spec)
    ? ({ kind: "open", text: "" } as const)
    : ({ kind: "text", text: spec.prompt ?? "" } as const);
  return {
    argv,
    env: spec.sandbox === undefined ? ENVIRONMENT : { ...ENVIRONMENT, ...CONFINED },
    stdin,
    ...(externalSandbox ? { warnings: [EXTERNAL_SANDBOX_WARNING] } : {}),
  };
};
