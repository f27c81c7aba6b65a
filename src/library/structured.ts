/** Answers with a schema: what an agent is told, and whether its answer fits. */
import * as z from "zod";
import { parseLine } from "../base/json.ts";
import { HoldfastError } from "../protocol/errors.ts";
import type { OutputSchema } from "../protocol/worker.ts";
import { invalid } from "./checked.ts";
import type { DeepReadonly, Json } from "./json.ts";

interface Issue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}
type Judgement =
  | { readonly value: unknown; readonly issues?: undefined }
  | { readonly issues: readonly Issue[] };

/** A schema of zod 4.2, or of any other library with Standard Schema and Standard JSON Schema. */
export interface StandardForm {
  readonly "~standard": {
    readonly validate: (value: unknown) => Judgement | Promise<Judgement>;
    readonly types?: { readonly output: unknown } | undefined;
    readonly jsonSchema: {
      readonly input: (options: { readonly target: "draft-2020-12" }) => Record<string, unknown>;
    };
  };
}

/** A JSON Schema of an object. */
export type JsonSchemaForm = DeepReadonly<{ [key: string]: Json }>;

export type OutputForm = StandardForm | JsonSchemaForm;

/** The type of an answer that fits a form. */
export type ObjectOf<F> = F extends StandardForm
  ? NonNullable<F["~standard"]["types"]>["output"]
  : F extends JsonSchemaForm
    ? { [key: string]: Json }
    : undefined;

/** A form as the library uses it. */
export interface AnswerForm {
  /** The kind's CLI, or else the agent, is told it. */
  readonly schema: OutputSchema;
  /** The object in an answer. Rejects with AGENT_FAILED, whose `problems` say what does not fit. */
  read(text: string): Promise<unknown>;
}

const isStandard = (form: OutputForm): form is StandardForm => "~standard" in form;

/** Throws INVALID_REQUEST for a form that is no schema. */
export const answerForm = (form: OutputForm): AnswerForm => {
  try {
    const { $schema: _, ...schema } = isStandard(form)
      ? form["~standard"].jsonSchema.input({ target: "draft-2020-12" })
      : form;
    const judge = isStandard(form) ? form["~standard"].validate : standardOf(schema).validate;
    return {
      schema: schema as OutputSchema,
      read: async (text) => {
        const value = objectIn(text);
        if (typeof value === "string") throw misfit(["it is not one JSON object"]);
        const judged = await judge(value);
        if (judged.issues === undefined) return judged.value;
        throw misfit(judged.issues.map(sentenceOf));
      },
    };
  } catch (cause) {
    throw invalid([`output: it is no schema of an object: ${(cause as Error).message}`]);
  }
};

const standardOf = (schema: object): StandardForm["~standard"] =>
  (z.fromJSONSchema(schema as z.core.JSONSchema.JSONSchema) as unknown as StandardForm)["~standard"];

/** Agents without a schema of their own often put their JSON into a fence. */
const FENCE = /```(?:json)?\s*\n([\s\S]*?)\n\s*```/;

const objectIn = (text: string): ReturnType<typeof parseLine> => {
  const whole = parseLine(text.trim());
  const fenced = FENCE.exec(text)?.[1];
  return typeof whole === "string" && fenced !== undefined ? parseLine(fenced) : whole;
};

const sentenceOf = ({ message, path = [] }: Issue): string => {
  const at = path.map((part) => String(typeof part === "object" ? part.key : part)).join(".");
  return at === "" ? message : `${at}: ${message}`;
};

const misfit = (problems: readonly string[]): HoldfastError =>
  new HoldfastError("AGENT_FAILED", `The answer does not fit its schema: ${problems.join("; ")}.`, {
    problems,
    suggestion: "Make the prompt or the schema clearer.",
  });

/** The prompt of an agent whose CLI takes no schema. */
export const withSchema = (prompt: string, { schema }: AnswerForm): string =>
  `${prompt}\n\nAnswer with one JSON object and nothing else. It must fit this JSON Schema:\n${JSON.stringify(schema)}`;

/** The prompt of the second try. */
export const again = (problems: readonly string[], form: AnswerForm): string =>
  withSchema(`Your answer does not fit its schema: ${problems.join("; ")}. Give it again.`, form);
