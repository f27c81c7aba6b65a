/**
 * agent resume and fork: a new worker in the session of an earlier one, or in a branch of it. With --session or --last the
 * first argument is a KIND, and the call is an `agent spawn` in a session that Holdfast may not know.
 */
import type { HoldfastError } from "../../protocol/errors.ts";
import { type CommandResult, type Context, keyOf } from "../context.ts";
import type { Call } from "../parse.ts";
import { begun, readPrompt, spawnFrom } from "./spawn.ts";
import { promptConditions, spawnConditions } from "./spawn-conditions.ts";
import { parentOf, promptSource, spawnProblems } from "./spawn-spec.ts";

/** AgentEvent notes, A.5: only this key selects the newest session. */
const RESUME = "agent_api.session.resume.v1";

/** Flags for which the new worker keeps the values of the earlier one. */
const OF_A_KIND = ["cwd", "env", "model", "permission", "restart"] as const;

const namesKind = ({ flags }: Call): boolean => flags.session !== undefined || flags.last === true;

/** The same call as a call of `agent spawn`. */
const asSpawn = (call: Call): Call => {
  const { last, ...flags } = call.flags;
  return { ...call, flags: last === true ? { ...flags, ext: [[RESUME, { selector: "last" }]] } : flags };
};

export const resumeProblems = (call: Call): readonly string[] => {
  const { flags, args } = call;
  const problems: string[] = [];
  if (flags.session !== undefined && flags.last === true)
    problems.push("--session and --last exclude each other: give one of them");
  if (namesKind(call)) return [...problems, ...spawnProblems(asSpawn(call))];
  for (const flag of OF_A_KIND)
    if (flags[flag] !== undefined)
      problems.push(`--${flag} goes with --session or --last: a worker continues with its own`);
  if (flags.detach && (flags.watch || flags.wait))
    problems.push("--detach goes with neither --watch nor --wait");
  if (args[1] !== undefined && flags["prompt-file"] !== undefined)
    problems.push("the prompt is given twice: as PROMPT and with --prompt-file");
  if (args[1]?.trim() === "") problems.push("PROMPT is empty");
  return problems;
};

export const resumeConditions = (
  call: Call,
  place: Parameters<typeof spawnConditions>[1],
): readonly HoldfastError[] =>
  namesKind(call) ? spawnConditions(asSpawn(call), place) : promptConditions(call, place.cwd);

const goOn =
  (request: "agent/resume" | "agent/fork") =>
  async (context: Context): Promise<CommandResult> => {
    const { call, flags } = context;
    if (namesKind(call)) return spawnFrom(context, asSpawn(call));
    const source = promptSource(call);
    const prompt = source === undefined ? call.args[1] : await readPrompt(context, source);
    const client = await context.connect({ start: true });
    if (!flags["dry-run"])
      context.onInterrupt = { sentence: "The worker may have been started all the same. See: agent list" };
    // With --wait, the prompt is one question: a conversation has no end of its own.
    const isQuestion = flags.wait === true && prompt !== undefined && flags.interactive === undefined;
    const reply = await client.request(request, {
      id: call.args[0]!,
      prompt,
      name: flags.name as string | undefined,
      interactive: isQuestion ? false : (flags.interactive as boolean | undefined),
      parent: parentOf(context.env),
      dry_run: flags["dry-run"] === true,
      idempotency_key: keyOf({ flags }),
    });
    return begun(context, reply);
  };

export const resume = goOn("agent/resume");
export const fork = goOn("agent/fork");
