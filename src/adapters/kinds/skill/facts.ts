/** The facts of kind `skill`: one run of a skill in its sandbox. Only `agent run` and its requests start one. */
import type { WorkerSpec } from "../../../protocol/worker.ts";
import type { KindFacts } from "../../facts.ts";

/** A run names its skill, the manifest that was allowed, and the socket of its proxy if it has one: `[NAMESPACE/VERB, DIGEST, SOCKET?]`. */
const validate = ({ argv, sandbox }: WorkerSpec): readonly string[] =>
  (argv.length === 2 || argv.length === 3) && sandbox !== undefined
    ? []
    : ["A skill is run in a sandbox, by its name: agent run NAMESPACE/VERB."];

export const facts = {
  kind: "skill",
  aliases: [],
  summary: "One run of a skill: its answer is one Protocol v1 envelope.",
  limits: [],
  capabilities: ["agent_api.run", "agent_api.control.cancel.v1"],
  binary: null,
  credentials: [],
  default_restart: "temporary",
  needs_prompt: false,
  validate,
} as const satisfies KindFacts;
