/**
 * Wraps an adapter that a user wrote and checks everything that it returns. A value of the wrong shape throws
 * here and never reaches the log; the error ends only the adapter's worker (`actors/defects`).
 */
import * as z from "zod";
import {
  DATA_MAX_BYTES,
  MESSAGE_MAX_BYTES,
  MODELS_PER_TURN_MAX,
  SESSION_ID_MAX_BYTES,
} from "../base/limits.ts";
import { AgentEvent } from "../protocol/agent-event.ts";
import { AgentCompletion } from "../protocol/completion.ts";
import { ERROR_CATALOGUE, type ErrorCode } from "../protocol/errors.ts";
import { FORK, MODEL, RESUME } from "../protocol/extensions.ts";
import type { WorkerSpec } from "../protocol/worker.ts";
import type { AgentAdapter, Decoded, LaunchPlan, MessageProtocol } from "./adapter.ts";
import { asksPermission } from "./decoding/agent-rules.ts";
import type { FinishVerdict } from "./decoding/verdict.ts";

const called = z.custom<(...given: never[]) => unknown>(
  (value) => typeof value === "function",
  "is not a function",
);
const name = z.string().regex(/^[a-z][a-z0-9_]*$/, "must consist of a-z, 0-9 and _ and start with a letter");
const fileName = z.string().regex(/^(?!\.{1,2}$)[^/\0]+$/, "is not the name of a directory");
const variable = z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, "is not the name of a variable");

/** Members that must exist before anything of the adapter is called. Methods of a class count as members. */
const AdapterShape = z.looseObject({
  kind: name,
  aliases: z.array(name),
  summary: z.string().min(1).max(256),
  capabilities: z.array(z.string().max(128)),
  ways_of_running: z.array(z.string().max(128)).optional(),
  counts_cached_inside: z.boolean().optional(),
  binary: z.object({ name: z.string().min(1), variable }).nullable(),
  credentials: z.array(variable),
  streams: z.array(z.enum(["stdout", "stderr"])),
  default_restart: z.enum(["permanent", "transient", "temporary"]),
  messages: z
    .looseObject({
      frame: called,
      acknowledges: z.boolean(),
      one_at_a_time: z.boolean().optional(),
      may_linger: z.boolean().optional(),
      asks_beyond_turn: z.boolean().optional(),
      answer: called.optional(),
      interrupt: called.optional(),
    })
    .optional(),
  converses: called.optional(),
  needs: called.optional(),
  model: called.optional(),
  sessions_under: z.array(variable).optional(),
  reading_tools: z.array(z.string()).optional(),
  never_repeats: z.literal(true).optional(),
  state: z
    .array(
      z.strictObject({
        home: z.string().min(1),
        variable: variable.optional(),
        isFile: z.literal(true).optional(),
      }),
    )
    .optional(),
  litter: called.optional(),
  leaves: called.optional(),
  mcp: called.optional(),
  configured: called.optional(),
  validate: called,
  plan: called,
  decoder_version: z.int().min(0),
  initial: called,
  decode: called,
  finish: called,
});

/** One entry for each mistake: `member: mistake`. */
export const shapeProblems = (value: unknown): readonly string[] => {
  const parsed = AdapterShape.safeParse(value);
  if (parsed.success) return [];
  return parsed.error.issues.map(({ path, message }) => `${path.join(".") || "the export"}: ${message}`);
};

const text = z.string();
const fits = (value: unknown): boolean => Buffer.byteLength(JSON.stringify(value) ?? "") <= DATA_MAX_BYTES;
const error = z.looseObject({
  code: z.custom<ErrorCode>((code) => typeof code === "string" && Object.hasOwn(ERROR_CATALOGUE, code)),
  message: text.refine((message) => Buffer.byteLength(message) <= MESSAGE_MAX_BYTES),
});
const usage = z.looseObject({}).refine(fits);

/** Text may exceed its bound here: it is split after it was masked. */
const recordOf = (kind: string) =>
  z.discriminatedUnion("type", [
    z.strictObject({
      type: z.literal("agent.event"),
      payload: z.strictObject({
        ...AgentEvent.shape,
        agent_kind: z.literal(kind),
        channel: text.optional(),
        text: text.optional(),
        message: text.optional(),
        data: z.json().optional(),
      }),
    }),
    z.strictObject({
      type: z.literal("session_started"),
      payload: z.strictObject({ session_id: text.min(1).max(SESSION_ID_MAX_BYTES) }),
    }),
    z.strictObject({
      type: z.literal("turn_started"),
      payload: z.strictObject({ turn: z.int().min(1) }),
    }),
    z.strictObject({
      type: z.literal("turn_completed"),
      payload: z.strictObject({
        turn: z.int().min(1),
        usage,
        duration_ms: z.number().nullable(),
        error: error.optional(),
        models: z.array(usage).optional(),
        tool_calls: z.int().min(0).optional(),
      }),
    }),
    z.strictObject({
      type: z.literal("worker_message"),
      payload: z.looseObject({ message_id: text.min(1).max(256) }).refine(fits),
    }),
    z.strictObject({
      type: z.literal("approval_requested"),
      payload: z
        .strictObject({
          approval_id: text.min(1).max(256),
          tool: text.nullable(),
          tool_use_id: text.nullable(),
          title: text,
          input: z.json(),
          reply: z.json(),
        })
        .refine(fits),
    }),
    z.strictObject({
      type: z.literal("approval_withdrawn"),
      payload: z.strictObject({ approval_id: text.min(1).max(256) }),
    }),
  ]);

const reply = z.union([
  z.strictObject({ type: z.literal("reply"), line: text.max(DATA_MAX_BYTES).endsWith("\n") }),
  z.strictObject({ type: z.literal("reply"), closes: z.literal(true) }),
]);

const count = z.number().min(0);
const turnUsage = z.strictObject({
  type: z.literal("turn_usage"),
  usage: z.looseObject({ input_tokens: count, output_tokens: count, cost_usd: count.nullable() }),
  models: z.array(usage).max(MODELS_PER_TURN_MAX).optional(),
});

/** A name in the directory of a plan's scripts, and no path. */
const FileName = z.string().regex(/^[A-Za-z0-9_-][A-Za-z0-9._-]{0,63}$/);

const Plan = z.strictObject({
  argv: z.array(text).min(1),
  env: z.record(text, text),
  stdin: z.discriminatedUnion("kind", [
    z.strictObject({ kind: z.literal("empty") }),
    z.strictObject({ kind: z.literal("text"), text }),
    z.strictObject({ kind: z.literal("open"), text }),
  ]),
  warnings: z.array(text.refine((said) => Buffer.byteLength(said) <= MESSAGE_MAX_BYTES)).optional(),
  references: z.record(text, text).optional(),
  scripts: z
    .record(FileName, z.strictObject({ argv: z.array(text).min(1), env: z.record(text, text) }))
    .optional(),
});

/** `what` names the call for a reader of daemon.log. */
const checked = <T>(schema: z.ZodType<unknown>, value: T, what: string): T => {
  const parsed = schema.safeParse(value);
  if (parsed.success) return value;
  const [issue] = parsed.error.issues;
  const place = issue?.path.length ? `${issue.path.join(".")}: ` : "";
  throw new TypeError(`${what} returned a value of the wrong shape: ${place}${issue?.message}`);
};

/** Wishes of the spec that the adapter would silently ignore. */
const ignored = ({ kind, capabilities, messages }: AgentAdapter, spec: WorkerSpec): readonly string[] => {
  const without = (flag: string, capability: string) =>
    capabilities.includes(capability)
      ? []
      : [`--${flag} means nothing to kind ${kind}: its adapter does not declare ${capability}.`];
  return [
    ...(spec.interactive && messages === undefined
      ? [`--interactive means nothing to kind ${kind}: its adapter has no messages.`]
      : []),
    ...(spec.model === undefined ? [] : without("model", MODEL)),
    ...(spec.fork ? without("fork", FORK) : spec.session === undefined ? [] : without("session", RESUME)),
  ];
};

const lines = z.string().endsWith("\n");

/** Only whole lines may be written to the agent, because it would wait for the rest of a line. */
const spoken = (kind: string, protocol: MessageProtocol): MessageProtocol => {
  const { acknowledges, one_at_a_time, may_linger, asks_beyond_turn } = protocol;
  return {
    acknowledges,
    ...(one_at_a_time === undefined ? {} : { one_at_a_time }),
    ...(may_linger === undefined ? {} : { may_linger }),
    ...(asks_beyond_turn === undefined ? {} : { asks_beyond_turn }),
    frame: (id, said, state) =>
      checked(lines.optional(), protocol.frame(id, said, state), `messages.frame of ${kind}`),
    ...(protocol.answer === undefined
      ? {}
      : {
          answer: (reply, given) =>
            checked(lines, protocol.answer!(reply, given), `messages.answer of ${kind}`),
        }),
    ...(protocol.interrupt === undefined
      ? {}
      : {
          interrupt: (state) =>
            checked(lines.optional(), protocol.interrupt!(state), `messages.interrupt of ${kind}`),
        }),
  };
};

/** The same adapter, with checks that throw. */
export const guarded = (adapter: AgentAdapter): AgentAdapter => {
  const { kind } = adapter;
  const records = z.array(recordOf(kind));
  const decoded = z.looseObject({ records: z.array(z.union([reply, turnUsage, recordOf(kind)])) });
  const verdict = z.looseObject({
    records,
    outcome: z.looseObject({
      status: z.enum(["completed", "failed"]),
      completion: AgentCompletion,
      error: error.optional(),
    }),
  });
  return {
    kind,
    aliases: [...adapter.aliases],
    summary: adapter.summary,
    capabilities: [...adapter.capabilities],
    ...(adapter.ways_of_running === undefined ? {} : { ways_of_running: [...adapter.ways_of_running] }),
    counts_cached_inside: adapter.counts_cached_inside === true,
    binary: adapter.binary,
    credentials: [...adapter.credentials],
    streams: [...adapter.streams],
    default_restart: adapter.default_restart,
    decoder_version: adapter.decoder_version,
    ...(adapter.messages === undefined ? {} : { messages: spoken(kind, adapter.messages) }),
    ...(adapter.converses === undefined ? {} : { converses: (spec) => adapter.converses!(spec) }),
    ...(adapter.needs === undefined ? {} : { needs: (spec) => adapter.needs!(spec) }),
    ...(adapter.model === undefined ? {} : { model: (spec) => adapter.model!(spec) }),
    ...(adapter.sessions_under === undefined ? {} : { sessions_under: [...adapter.sessions_under] }),
    ...(adapter.reading_tools === undefined ? {} : { reading_tools: [...adapter.reading_tools] }),
    ...(adapter.never_repeats === undefined ? {} : { never_repeats: adapter.never_repeats }),
    ...(adapter.state === undefined ? {} : { state: [...adapter.state] }),
    ...(adapter.litter === undefined
      ? {}
      : { litter: (spec) => checked(z.array(fileName), adapter.litter!(spec), `litter of ${kind}`) }),
    ...(adapter.leaves === undefined
      ? {}
      : {
          leaves: (spec, incarnation) =>
            checked(fileName.optional(), adapter.leaves!(spec, incarnation), `leaves of ${kind}`),
        }),
    ...(adapter.mcp === undefined ? {} : { mcp: (request) => adapter.mcp!(request) }),
    ...(adapter.configured === undefined ? {} : { configured: (options) => adapter.configured!(options) }),
    validate: (spec) => [
      ...checked(z.array(text), adapter.validate(spec), `validate of ${kind}`),
      ...(asksPermission(spec) && adapter.messages?.answer === undefined
        ? [`Kind ${kind} cannot ask for permission: leave out --permission ask and tool rules.`]
        : []),
      ...ignored(adapter, spec),
    ],
    plan: (context): LaunchPlan => checked(Plan, adapter.plan(context), `plan of ${kind}`),
    initial: (opening) => adapter.initial(opening),
    decode: (state, line, stream): Decoded<unknown> =>
      checked(decoded, adapter.decode(state, line, stream), `decode of ${kind}`),
    finish: (state, exit): FinishVerdict =>
      checked(verdict, adapter.finish(state, exit), `finish of ${kind}`),
  };
};
