/** Functions of a program as the tools of an agent: zod in, zod out. */
import * as z from "zod";
import type { JsonValue } from "../protocol/records.ts";
import type { ToolContext, ToolExecutor, ToolResult } from "./tools.ts";

export interface FunctionTool<I = unknown, O = unknown> {
  readonly description: string;
  /** The call's input is checked before `run`; the model is told what is wrong. */
  readonly input: z.ZodType<I>;
  /** The result is checked after `run`. Default: any JSON. */
  readonly output?: z.ZodType<O>;
  /** A second run of the same call changes nothing more: it may run again after a crash. Default: false. */
  readonly idempotent?: boolean;
  /** It may run beside other calls of the same answer; only with `idempotent`. Default: false. */
  readonly parallel?: boolean;
  /** A person, or a rule, is asked before each call. Default: false. */
  readonly ask?: boolean;
  /** A rejection is told to the model as the tool's failure. */
  run(input: I, context: ToolContext): Promise<O> | O;
}

/** A tool whose `run` has the types of its schemas. */
export const functionTool = <I, O>(tool: FunctionTool<I, O>): FunctionTool => tool as unknown as FunctionTool;

const refused = (output: string): ToolResult => ({ output, is_error: true, code: "INVALID_REQUEST" });

const runOne = async (tool: FunctionTool, given: JsonValue, context: ToolContext): Promise<ToolResult> => {
  const input = tool.input.safeParse(given);
  if (!input.success) return refused(`The input is wrong: ${z.prettifyError(input.error)}`);
  const value = await tool.run(input.data, context);
  const output = (tool.output ?? z.unknown()).safeParse(value);
  if (!output.success)
    return {
      output: `The tool gave a wrong result: ${z.prettifyError(output.error)}`,
      is_error: true,
      code: "SKILL_FAILED",
    };
  return { output: (output.data ?? null) as JsonValue, is_error: false };
};

export const functionTools = (tools: Readonly<Record<string, FunctionTool>>): ToolExecutor => {
  const known = new Map(Object.entries(tools));
  return {
    list: async () =>
      [...known].map(([name, { description, input, idempotent = false, parallel = false }]) => ({
        name,
        description,
        input_schema: z.toJSONSchema(input) as JsonValue,
        is_idempotent: idempotent,
        may_overlap: parallel,
      })),
    judge: ({ name }) =>
      known.get(name)?.ask === true ? { decision: "ask", title: `Run ${name}` } : { decision: "allow" },
    run: async ({ name, input }, context) => runOne(known.get(name)!, input, context),
    close: async () => {},
  };
};
