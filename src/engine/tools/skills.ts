/**
 * The skills of `agent run` as tools. The daemon decides who may run which, and runs each in its own sandbox; this end only
 * asks. A call that is aborted is ended there.
 */
import { asObject } from "../../base/json.ts";
import { HoldfastError } from "../../protocol/errors.ts";
import type { Outcome } from "../../protocol/outcome.ts";
import type { JsonValue } from "../../protocol/records.ts";
import type { SkillTool } from "../../protocol/replies/skills.ts";
import type { ToolCall } from "../model.ts";
import type { ToolContext, ToolResult } from "../tools.ts";
import { type OfferedTool, type ToolSource, toolName } from "./offered.ts";

export interface SkillCall {
  readonly skill: string;
  readonly input: Readonly<Record<string, unknown>>;
  readonly workspace: string;
}

/** The runtime that has the skills. */
export interface SkillRunner {
  /** The skills that this agent may run. Rejects with a HoldfastError. */
  tools(): Promise<readonly SkillTool[]>;
  /** Rejects only if the runtime cannot be reached. */
  run(call: SkillCall, signal: AbortSignal): Promise<Outcome<Readonly<Record<string, unknown>>>>;
}

const offeredOf = ({ skill, summary, input_schema, effect }: SkillTool): OfferedTool => ({
  name: toolName(skill.replace("/", "_")),
  description: summary,
  input_schema,
  is_idempotent: effect !== "any",
  only_reads: effect === "none",
});

class SkillSource implements ToolSource {
  private readonly runner: SkillRunner;
  private readonly skills = new Map<string, string>();

  constructor(runner: SkillRunner) {
    this.runner = runner;
  }

  async list(): Promise<readonly OfferedTool[]> {
    const tools = await this.runner.tools();
    return tools.map((tool) => {
      const offered = offeredOf(tool);
      this.skills.set(offered.name, tool.skill);
      return offered;
    });
  }

  async run({ name, input }: ToolCall, { cwd, signal }: ToolContext): Promise<ToolResult> {
    const skill = this.skills.get(name) ?? name;
    const given = asObject(input);
    if (given === undefined)
      return { output: `The input of ${name} is no JSON object.`, is_error: true, code: "INVALID_REQUEST" };
    const outcome = await this.runner
      .run({ skill, input: given, workspace: cwd }, signal)
      .catch(broken(signal));
    return outcome.ok ? { output: outcome.value as JsonValue, is_error: false } : failed(outcome.error);
  }

  async close(): Promise<void> {}
}

/** A runtime that is gone is a result too: the model may try again. An aborted call stays aborted. */
const broken =
  (signal: AbortSignal) =>
  (cause: unknown): Outcome<never> => {
    if (signal.aborted || !(cause instanceof HoldfastError)) throw cause;
    return { ok: false, error: cause };
  };

/** The model learns what to do next, as a person would. */
const failed = ({ code, message, info, row }: HoldfastError): ToolResult => ({
  output: { error: code, message, next: info.suggestion ?? row.next },
  is_error: true,
  code,
});

export const skillTools = (runner: SkillRunner): ToolSource => new SkillSource(runner);
