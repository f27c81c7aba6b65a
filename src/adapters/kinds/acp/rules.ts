/** Rules for a spec of kind `acp`. The client loads this file: nothing of the protocol itself. */
import { ACP_AGENT, ACP_AGENTS } from "../../../base/acp-agents.ts";
import { agentOptions, HEADLESS, MODEL, NON_INTERACTIVE, RESUME } from "../../../protocol/extensions.ts";
import type { WorkerSpec } from "../../../protocol/worker.ts";
import { agentProblems } from "../../decoding/agent-rules.ts";
import { checkSessionId } from "../../decoding/events.ts";
import { presetOf } from "./presets.ts";

export const capabilities = [...HEADLESS, RESUME, MODEL, NON_INTERACTIVE, ACP_AGENT] as const;

const KNOWN = ACP_AGENTS.map(({ name }) => `acp:${name}`).join(", ");

export const validate = (spec: WorkerSpec): readonly string[] => {
  const { [ACP_AGENT]: named, ...ext } = spec.ext;
  const problems = [...agentProblems({ ...spec, ext }, capabilities, { converses: true, asks: true })];
  if (named !== undefined && presetOf(spec) === undefined)
    problems.push(`invalid ${ACP_AGENT}: it is one of ${ACP_AGENTS.map(({ name }) => name).join(", ")}.`);
  if (named === undefined && (spec.argv[0] ?? "") === "")
    problems.push(
      `An ACP agent needs its program, as in \`agent spawn acp "PROMPT" -- my-agent --acp\`, or a known name: ${KNOWN}.`,
    );
  const { session, fork } = agentOptions(spec);
  if (fork) problems.push("An ACP agent cannot fork a session: leave --fork out.");
  if (session?.by === "last")
    problems.push("An ACP agent is told which session to go on in: give its id with --session.");
  if (session?.by === "id" && checkSessionId(session.id) !== "ok")
    problems.push("The id of the session is over the bound of an id.");
  return problems;
};
