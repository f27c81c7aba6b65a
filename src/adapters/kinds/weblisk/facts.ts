/** The facts of kind `weblisk`: an agent of an orchestrator elsewhere, which does the worker's task over HTTP (src/weblisk/client). */
import { asObject } from "../../../base/json.ts";
import { WEBLISK_INPUTS_MAX_BYTES, WEBLISK_PATH_MAX_CHARS } from "../../../base/limits.ts";
import { orchestratorUrl } from "../../../base/orchestrator-url.ts";
import type { ValueCheck } from "../../../protocol/extensions.ts";
import { extensionProblems } from "../../../protocol/extensions.ts";
import type { WorkerSpec } from "../../../protocol/worker.ts";
import { asksPermission } from "../../decoding/agent-rules.ts";
import { type KindFacts, NO_CONVERSATION } from "../../facts.ts";
import { AS, INPUTS, WORKSPACE } from "./settings.ts";

/** weblisk.txt, AgentManifest: lower-case letters, digits and dashes. */
const NAME = /^[a-z][a-z0-9-]{0,63}$/;

const OWN_KEYS: Readonly<Record<string, ValueCheck>> = {
  [AS]: (value) => (typeof value === "string" && NAME.test(value) ? undefined : AS),
  [INPUTS]: (value) => {
    const inputs = asObject(value);
    // It goes into a variable of the client, whose bytes the kernel bounds.
    const fits = Buffer.byteLength(JSON.stringify(inputs ?? {})) <= WEBLISK_INPUTS_MAX_BYTES;
    return inputs !== undefined && fits ? undefined : INPUTS;
  },
  [WORKSPACE]: (value) =>
    typeof value === "string" && value.startsWith("/") && value.length <= WEBLISK_PATH_MAX_CHARS
      ? undefined
      : WORKSPACE,
};

const HOW = "as in: agent spawn weblisk PROMPT -- http://127.0.0.1:9800 reviewer";

const placeProblems = ({ argv }: WorkerSpec): readonly string[] => {
  const [url = "", agent = ""] = argv;
  if (argv.length !== 2)
    return [`Kind weblisk needs an orchestrator's address and the name of its agent after --, ${HOW}.`];
  return [
    ...(orchestratorUrl(url) === undefined
      ? [`The address of an orchestrator begins with http:// or https://, and has no query, ${HOW}.`]
      : []),
    ...(NAME.test(agent)
      ? []
      : [`The name of an agent is 1 to 64 lower-case letters, digits and dashes, ${HOW}.`]),
  ];
};

const validate = (spec: WorkerSpec, able: readonly string[]): readonly string[] => {
  const problems = [...placeProblems(spec), ...extensionProblems(spec, able, OWN_KEYS)];
  if ((spec.prompt ?? "").trim() === "")
    problems.push(
      "The prompt must not be empty: give it as an argument, with --prompt-file, or as `-` on stdin.",
    );
  if (spec.sandbox !== undefined)
    problems.push(
      "Kind weblisk takes no sandbox: its agent works elsewhere, where none of here confines it.",
    );
  if (asksPermission(spec))
    problems.push("Kind weblisk asks for no permission here: leave out --permission ask and tool rules.");
  if (spec.restart === "permanent")
    problems.push("Kind weblisk cannot run for ever: its task is done once, so use --restart transient.");
  return problems;
};

export const facts = {
  kind: "weblisk",
  aliases: [],
  summary:
    "An agent of another Weblisk orchestrator: it gets the prompt as a task, and its signed result is the answer.",
  usage: "an agent elsewhere, with -- URL AGENT",
  limits: [
    "A task is done once: a restart asks for the result of the same task, and a stop ends the task for good.",
    "Permissions, tools and the directory of work are its operator's: --permission decides nothing there.",
    "It reports no turns, no tokens and no cost, so a budget of them counts nothing for it.",
    "Files that it changes stay there.",
    NO_CONVERSATION,
  ],
  capabilities: [
    "agent_api.run",
    "agent_api.events",
    "agent_api.control.cancel.v1",
    "agent_api.artifacts.final_text.v1",
    AS,
    INPUTS,
    WORKSPACE,
  ],
  ways_of_running: [
    "agent_api.run",
    "agent_api.events",
    "agent_api.control.cancel.v1",
    "agent_api.artifacts.final_text.v1",
  ],
  binary: null,
  credentials: [],
  default_restart: "transient",
  needs_prompt: true,
  never_repeats: true,
  is_unbounded: true,
  asks_others: true,
  sample_argv: ["http://127.0.0.1:9800", "reviewer"],
  validate,
} as const satisfies KindFacts;
