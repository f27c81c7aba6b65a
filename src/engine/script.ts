/** A script of a model and its tools in a file of JSON: `--model scripted/FILE`. */
import { appendFile, readFile } from "node:fs/promises";
import { resolve } from "node:path";
import * as z from "zod";
import { HoldfastError } from "../protocol/errors.ts";
import { SUMMARY_REQUEST } from "./compaction.ts";
import type { Model, ModelErrorKind, ModelRequest, ToolSpec } from "./model.ts";
import { answersOf, type ScriptedAnswer, scriptedModel } from "./scripted.ts";
import type { ToolExecutor } from "./tools.ts";

const count = z.int().min(0);
const ErrorKind = z.enum([
  "auth",
  "rate_limited",
  "overloaded",
  "context_overflow",
  "refused",
  "bad_answer",
  "reset",
  "unreachable",
  "no_such_model",
  "invalid_request",
]) satisfies z.ZodType<ModelErrorKind>;

const Answer = z.strictObject({
  text: z.string().optional(),
  reasoning: z.string().optional(),
  calls: z
    .array(z.strictObject({ id: z.string().min(1), name: z.string().min(1), input: z.json().optional() }))
    .optional(),
  reason: z.enum(["length", "refusal"]).optional(),
  usage: z
    .strictObject({
      input_tokens: count,
      cached_tokens: count,
      cache_write_tokens: count,
      output_tokens: count,
      reasoning_tokens: count,
    })
    .partial()
    .optional(),
  error: z
    .strictObject({ kind: ErrorKind, status: z.int().optional(), retry_after_ms: count.optional() })
    .optional(),
}) satisfies z.ZodType<ScriptedAnswer>;

const Tool = z.strictObject({
  name: z.string().min(1),
  is_idempotent: z.boolean().default(false),
  may_overlap: z.boolean().default(false),
  /** The policy's answer. */
  decision: z.enum(["allow", "ask", "deny"]).default("allow"),
  output: z.json().default("done"),
  is_error: z.boolean().default(false),
  /** A file to which each run appends its call's id as a line: its effect. */
  ledger: z.string().optional(),
});

export const ModelScript = z.strictObject({
  answers: z.array(Answer),
  tools: z.array(Tool).default([]),
  /** The answer to a request for a summary. The ids of calls then have to differ: they tell how far the script has come. */
  summary: Answer.optional(),
  /** A file to which each request appends a line: the number of answers that it has already, or `summary`. */
  requests: z.string().optional(),
});
export type ModelScript = z.infer<typeof ModelScript>;

const specOf = ({ name, is_idempotent, may_overlap }: ModelScript["tools"][number]): ToolSpec => ({
  name,
  description: `The tool ${name} of a script.`,
  input_schema: { type: "object" },
  is_idempotent,
  may_overlap,
});

/** Tools that give the same output to each call. */
export const scriptedTools = (tools: ModelScript["tools"]): ToolExecutor => {
  const known = (name: string) => tools.find((tool) => tool.name === name);
  return {
    list: async () => tools.map(specOf),
    judge: ({ name }) => {
      const decision = known(name)?.decision ?? "deny";
      if (decision === "ask") return { decision, title: `Run ${name}` };
      return decision === "deny" ? { decision, reason: `The script does not allow ${name}.` } : { decision };
    },
    run: async ({ id, name }, { cwd }) => {
      const { output, is_error, ledger } = known(name)!;
      if (ledger !== undefined) await appendFile(resolve(cwd, ledger), `${id}\n`);
      return { output, is_error };
    },
    close: async () => {},
  };
};

/** Rejects with INVALID_REQUEST if the file is no script. */
export const readScript = async (path: string): Promise<ModelScript> => {
  try {
    return ModelScript.parse(JSON.parse(await readFile(path, "utf8")));
  } catch (cause) {
    const why = cause instanceof z.ZodError ? z.prettifyError(cause) : (cause as Error).message;
    throw new HoldfastError("INVALID_REQUEST", `${path} is no script of a model: ${why}`, { cause });
  }
};

const isOfSummary = ({ messages }: ModelRequest): boolean => messages.at(-1) === SUMMARY_REQUEST;

/** The answers that a conversation has had: a summary takes old ones away, and the newest call tells of them all the same. */
const answersHad = ({ answers, summary }: ModelScript, messages: ModelRequest["messages"]): number => {
  const last = messages.at(-1);
  if (summary === undefined || last?.role !== "tool") return answersOf(messages);
  return answers.findIndex(({ calls = [] }) => calls.some(({ id }) => id === last.call_id)) + 1;
};

export const modelOfScript = (script: ModelScript, cwd: string): Model => {
  const { answers, requests, summary } = script;
  const model = scriptedModel(answers, (messages) => answersHad(script, messages));
  const summing = summary === undefined ? model : scriptedModel([summary], () => 0);
  return {
    async *stream(request, signal) {
      const isSummary = isOfSummary(request);
      const line = isSummary ? "summary" : String(answersHad(script, request.messages));
      if (requests !== undefined) await appendFile(resolve(cwd, requests), `${line}\n`);
      yield* (isSummary ? summing : model).stream(request, signal);
    },
  };
};
