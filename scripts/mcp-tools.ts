/** The tools of `agent mcp serve` as a client lists them, made of the schemas of the requests and their answers. The build writes them beside the server. */
import * as z from "zod";
import { asObject } from "../src/base/json.ts";
import { MCP_SERVED_RECORDS_MAX } from "../src/base/limits.ts";
import { SERVED, type ServedTool } from "../src/cli/mcp/served.ts";
import { record } from "../src/cli/schemas.ts";
import { COMMANDS } from "../src/commands/commands.ts";
import { KINDS } from "../src/commands/kinds.ts";
import { TreeSupervisor } from "../src/protocol/replies/trees.ts";
import { BudgetView, SpawnReply } from "../src/protocol/replies/workers.ts";
import { Requests } from "../src/protocol/requests.ts";
import { FIELDS } from "../src/protocol/spec-fields.ts";
import { WorkerSpec } from "../src/protocol/worker.ts";
import { WIRE } from "./openapi/replies.ts";

type Json = { readonly [key: string]: unknown };

const cursor = z.string().describe("the newest record: give it to events as from");
const status = <const S extends readonly [string, string]>(words: S) => z.enum(words);
const { ids } = Requests["agent/wait"].shape;

/** The fields of a spec, each with its sentence, but for those that the client determines. */
const described = ([name, { help }]: (typeof FIELDS)[number]): z.ZodType => {
  const field: z.ZodType = WorkerSpec.shape[name];
  if (name === "kind") return field.describe(`${help}: ${KINDS.map(({ short }) => short).join(", ")}`);
  if (name === "cwd") return field.optional().describe(`${help}; default: the server's own`);
  return field.describe(help);
};
const specShape = Object.fromEntries(
  FIELDS.filter(([, { isAmbient }]) => !isAmbient).map((field) => [field[0], described(field)]),
);
const spawn = z.strictObject({
  ...specShape,
  dry_run: Requests["agent/spawn"].shape.dry_run,
  idempotency_key: Requests["agent/spawn"].shape.idempotency_key,
});

/** The tools that take other things than their request. */
const INPUTS: Readonly<Partial<Record<ServedTool, z.ZodType>>> = {
  spawn,
  events: Requests["agent/watch"]
    .pick({ ids: true, from: true, kinds: true, types: true })
    .extend({ limit: z.int().min(1).max(MCP_SERVED_RECORDS_MAX).optional() }),
  kill: Requests["agent/kill"].omit({ all: true }).extend({ ids }),
  list: Requests["agent/list"].omit({ below: true }),
  budget: Requests["agent/info"].pick({ id: true }),
  ask_operator: z.strictObject({
    question: z.string().optional(),
    message_id: z.string().optional().describe("the question that an earlier call put"),
    idempotency_key: Requests["mailbox/send"].shape.idempotency_key,
  }),
};

const OUTPUTS: Readonly<Partial<Record<ServedTool, z.ZodType>>> = {
  spawn: SpawnReply.extend({ cursor }),
  wait: z.object({
    status: status(["ended", "pending"]),
    results: WIRE["agent/wait"].shape.results.optional(),
    cursor,
  }),
  events: z.object({ records: z.array(record), cursor, more: z.boolean() }),
  tree: z.object({ root: TreeSupervisor.shape.children.element }),
  budget: z.object({ id: z.string(), budgets: z.array(BudgetView) }),
  ask_operator: z.object({
    status: status(["answered", "pending"]),
    message_id: z.string(),
    answer: z.unknown().optional(),
  }),
};

/**
 * A definition that zod makes for a schema of any JSON is replaced by `{}`: some clients follow no reference, and a model pays
 * for it.
 */
const schemaOf = (type: z.ZodType, io: "input" | "output"): Json => {
  const {
    $schema: _,
    $defs = {},
    ...schema
  } = z.toJSONSchema(type, {
    io,
    unrepresentable: "any",
    target: "draft-2020-12",
    // No format that a validator knows; the pattern beside it says the same.
    override: ({ jsonSchema }) => {
      if (jsonSchema.format === "starts_with") delete jsonSchema.format;
    },
  });
  const anyJson = Object.keys($defs).filter((name) => $defs[name]?.anyOf !== undefined);
  const others = Object.fromEntries(Object.entries($defs).filter(([name]) => !anyJson.includes(name)));
  const text = JSON.stringify({ ...schema, ...(Object.keys(others).length > 0 && { $defs: others }) });
  return JSON.parse(text, (_key, value: { readonly $ref?: string }) => {
    const { $ref, ...rest } = asObject(value) ?? {};
    return typeof $ref === "string" && anyJson.includes($ref.replace("#/$defs/", "")) ? rest : value;
  });
};

const toolOf = (name: ServedTool): Json => {
  const { request, note } = SERVED[name];
  const command = COMMANDS.find((each) => each.request === request || each.command === request);
  if (command === undefined) throw new Error(`No command carries ${request}.`);
  const own = OWN_SUMMARIES[name];
  const input = INPUTS[name] ?? Requests[request];
  const shape = schemaOf(input, "input");
  const isRead = command.danger === "safe" && name !== "ask_operator";
  const isKeyed = Object.hasOwn((shape.properties ?? {}) as Json, "idempotency_key");
  return {
    name,
    title: own ?? command.summary,
    description: [`${own ?? command.summary}.`, note].filter((part) => part !== "").join(" "),
    inputSchema: shape,
    outputSchema: schemaOf(OUTPUTS[name] ?? WIRE[request], "output"),
    annotations: {
      readOnlyHint: isRead,
      destructiveHint: command.danger === "destructive",
      idempotentHint: isRead || isKeyed,
      openWorldHint: name === "spawn" || name === "send" || name === "ask_operator",
    },
  };
};

/** Tools whose request has another purpose on the command line. */
const OWN_SUMMARIES: Readonly<Partial<Record<ServedTool, string>>> = {
  events: "Read the records of workers, from a cursor on",
  budget: "Show the budgets of a worker",
  ask_operator: "Ask the person who runs the daemon",
};

export const mcpTools = (): readonly Json[] => (Object.keys(SERVED) as ServedTool[]).map(toolOf);
