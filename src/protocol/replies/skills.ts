/** The answers of the runtime about skills. */
import * as z from "zod";
import type { RunMeta } from "../outcome.ts";
import type { JsonValue } from "../records.ts";
import type { Reply } from "./reply.ts";

/** The `data` of the skill's envelope, with its secrets masked, and how it was made. */
export interface SkillAnswer {
  readonly data: Readonly<Record<string, unknown>>;
  readonly run: RunMeta;
}

export const SkillView = z.object({
  skill: z.string(),
  summary: z.string(),
  version: z.string().nullable().describe("null if it cannot be run"),
  runner: z.enum(["exec", "wasi", "oci"]).nullable(),
  origin: z.enum(["built_in", "state", "configured", "project"]),
  folder: z.string().nullable(),
  /** `asked`: the hosts that the input of a run names. */
  network: z.union([z.enum(["none", "asked"]), z.array(z.string())]),
  files: z.enum(["none", "read", "write"]).describe("its view of the workspace"),
  // A field that is called `secrets` would be masked on its way.
  variables: z.array(z.string()).describe("names of the variables that are its secrets"),
  state: z.boolean().describe("it has a private directory that lasts"),
  /** State of its circuit breaker: `open` refuses runs for a while. */
  breaker: z.enum(["closed", "open", "half_open"]),
  problems: z.array(z.string()).describe("the mistakes of its manifest"),
});
export type SkillView = Reply<typeof SkillView>;

/** A skill as a tool of a model. */
export interface SkillTool {
  readonly skill: string;
  readonly summary: string;
  /** A JSON Schema of an object. */
  readonly input_schema: JsonValue;
  readonly effect: "none" | "idempotent" | "any";
}

export interface SkillToolsReply {
  readonly tools: readonly SkillTool[];
}

export interface SkillsReply {
  readonly skills: readonly SkillView[];
}
