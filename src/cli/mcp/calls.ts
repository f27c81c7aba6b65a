/** One function a tool: arguments to an answer. The daemon checks the arguments; here they only get their scope and their bounds. */
import { resolve } from "node:path";
import { asNumber, asString, type JsonObject } from "../../base/json.ts";
import {
  MCP_SERVED_OUTPUT_MAX_BYTES,
  MCP_SERVED_RECORDS_MAX,
  MCP_SERVED_TEXT_MAX_BYTES,
  MCP_SERVED_WORKERS,
} from "../../base/limits.ts";
import { kindOf } from "../../commands/kinds.ts";
import { valueOrThrow } from "../../daemon/client.ts";
import { cursorOf, partsOf, type StartCursor } from "../../protocol/cursor.ts";
import { asHoldfastError } from "../../protocol/errors.ts";
import type { LogRecord } from "../../protocol/records.ts";
import type { RequestInput, RequestName } from "../../protocol/requests.ts";
import type { WorkerSpecInput } from "../../protocol/worker.ts";
import { addedKind } from "../commands/added-kinds.ts";
import { completedSpec } from "../commands/spawn-spec.ts";
import type { Context } from "../context.ts";
import { askOperator } from "./ask-operator.ts";
import type { ServerLink } from "./link.ts";
import type { ServerScope } from "./scope.ts";
import { SERVED, type ServedTool } from "./served.ts";

export interface CallGround {
  readonly link: ServerLink;
  readonly scope: ServerScope;
  readonly place: Pick<Context, "env" | "stateDir" | "cwd">;
  /** A call answers `pending` after this. */
  readonly wait_ms: number;
  /** Aborted when the client gives the call up. */
  readonly signal: AbortSignal;
  /** A new idempotency key, for a call without one. */
  newKey(): string;
}

type ToolFunction = (ground: CallGround, args: JsonObject) => Promise<object>;

/** The daemon refuses data of another form with a sentence, so they go to it as they came. */
const request = <N extends RequestName>(
  { link, signal }: CallGround,
  name: N,
  data: JsonObject,
): Promise<object> => link.ask(name, data as RequestInput<N>, signal) as Promise<object>;

/** A repeat for the next daemon needs a key, also where the client gave none. */
const keyed = ({ scope, newKey }: CallGround, { idempotency_key }: JsonObject): JsonObject => ({
  idempotency_key: scope.keyOf(asString(idempotency_key) ?? newKey()),
});

/** A request about one worker. */
const ofOne =
  (tool: ServedTool): ToolFunction =>
  async (ground, args) =>
    request(ground, SERVED[tool].request, { ...args, id: await ground.scope.refOf(args.id) });

/** The same for one that changes something. */
const changesOne =
  (tool: ServedTool): ToolFunction =>
  (ground, args) =>
    ofOne(tool)(ground, { ...args, ...keyed(ground, args) });

const changesAll =
  (tool: ServedTool): ToolFunction =>
  async (ground, args) =>
    request(ground, SERVED[tool].request, {
      ...args,
      ids: await ground.scope.refsOf(args.ids ?? []),
      ...keyed(ground, args),
    });

const spawn: ToolFunction = async (ground, { dry_run, idempotency_key, ...asked }) => {
  const { link, place } = ground;
  const spec = { ...asked, cwd: resolve(place.cwd, asString(asked.cwd) ?? ".") } as WorkerSpecInput;
  const kind = String(spec.kind);
  const isAdded = kindOf(kind) === undefined;
  const warn = () => undefined;
  const added = isAdded ? await link.outlasting((client) => addedKind({ warn }, client, kind)) : undefined;
  const cursor = await link.cursor();
  const data = { spec: completedSpec(spec, place, added), ...(dry_run !== undefined && { dry_run }) };
  const reply = await request(ground, "agent/spawn", { ...data, ...keyed(ground, { idempotency_key }) });
  return { ...reply, cursor };
};

const wait: ToolFunction = async (ground, args) => {
  const { link, scope, wait_ms } = ground;
  const ids = await scope.refsOf(args.ids);
  const deadline = performance.now() + Math.min(asNumber(args.timeout_ms) ?? wait_ms, wait_ms);
  const left = () => Math.max(0, Math.round(deadline - performance.now()));
  try {
    const { results } = await link.outlasting(async (client) => {
      const asked = { ...args, ids: [...ids], timeout_ms: left() };
      return valueOrThrow(await client.ask("agent/wait", asked, ground.signal));
    });
    return { status: "ended", results, cursor: await link.cursor() };
  } catch (cause) {
    if (asHoldfastError(cause).code !== "TIMEOUT") throw cause;
    return { status: "pending", cursor: await link.cursor() };
  }
};

/** Records until there is no more, or enough of them; in the second case the stream is given up. */
const events: ToolFunction = async (ground, { limit, ids, ...args }) => {
  const { link, scope, signal } = ground;
  const most = Math.min(asNumber(limit) ?? MCP_SERVED_RECORDS_MAX, MCP_SERVED_RECORDS_MAX);
  const below = scope.worker === undefined ? { all: true } : { ids: [scope.worker], subtree: true };
  const whose = ids === undefined ? below : { ids: [...(await scope.refsOf(ids))] };
  const from = (args.from ?? 0) as StartCursor;
  return link.outlasting(async (client) => {
    const { epoch, head: until } = await client.request("daemon/status", {});
    const records: LogRecord[] = [];
    let bytes = 0;
    const enough = new AbortController();
    const data = { ...args, ...whose, from, until };
    const take = (record: LogRecord): void => {
      bytes += Math.min(Buffer.byteLength(JSON.stringify(record)), MCP_SERVED_TEXT_MAX_BYTES);
      if (records.length < most && bytes <= MCP_SERVED_OUTPUT_MAX_BYTES) records.push(record);
      else enough.abort();
    };
    try {
      const { cursor } = await client.stream(
        "agent/watch",
        data,
        take,
        AbortSignal.any([signal, enough.signal]),
      );
      if (!enough.signal.aborted) return { records, cursor, more: false };
    } catch (cause) {
      if (!enough.signal.aborted) throw cause;
    }
    const last = records.at(-1)?.seq ?? partsOf(from).seq;
    return { records, cursor: cursorOf(epoch, last), more: true };
  });
};

const list: ToolFunction = (ground, args) =>
  request(ground, "agent/list", {
    limit: MCP_SERVED_WORKERS,
    ...args,
    ...(ground.scope.worker !== undefined && { below: ground.scope.worker }),
  });

/** The records about its supervisor name its siblings. */
const why: ToolFunction = async ({ link, scope, signal }, { id }) => {
  const reply = await link.ask("agent/why", { id: await scope.refOf(id) }, signal);
  const ids = await scope.ids();
  if (ids === undefined) return reply;
  const isOwn = (worker_id: string | undefined) => worker_id !== undefined && ids.has(worker_id);
  return {
    ...reply,
    records: reply.records.filter(({ worker_id }) => isOwn(worker_id)),
    names: Object.fromEntries(Object.entries(reply.names).filter(([worker]) => isOwn(worker))),
  };
};

const output: ToolFunction = (ground, args) => {
  const asked = asNumber(args.max_bytes) ?? MCP_SERVED_OUTPUT_MAX_BYTES;
  return ofOne("output")(ground, { ...args, max_bytes: Math.min(asked, MCP_SERVED_OUTPUT_MAX_BYTES) });
};

const usage: ToolFunction = async (ground, args) => {
  const { worker } = ground.scope;
  const isAll = worker !== undefined && args.ids === undefined;
  const ids = isAll ? [worker] : await ground.scope.refsOf(args.ids ?? []);
  return request(ground, "agent/usage", { ...args, ids, ...(isAll && { subtree: true }) });
};

const budget: ToolFunction = async ({ link, scope, signal }, { id }) => {
  const worker = await link.ask("agent/info", { id: await scope.refOf(id) }, signal);
  return { id: worker.id, budgets: worker.budgets };
};

const approvals: ToolFunction = async ({ link, scope, signal }, { id, ...args }) => {
  const named = id === undefined ? {} : { id: await scope.refOf(id) };
  const reply = await link.ask("agent/approvals", { ...args, ...named }, signal);
  const ids = await scope.ids();
  return ids === undefined
    ? reply
    : { ...reply, approvals: reply.approvals.filter(({ worker_id }) => ids.has(worker_id)) };
};

export const CALLS: Readonly<Record<ServedTool, ToolFunction>> = {
  spawn,
  wait,
  events,
  send: changesOne("send"),
  cancel: changesOne("cancel"),
  kill: changesAll("kill"),
  restart: changesAll("restart"),
  pause: changesAll("pause"),
  unpause: changesAll("unpause"),
  list,
  tree: async ({ link, scope, signal }) => ({
    root: scope.branchOf(await link.ask("agent/tree", {}, signal)),
  }),
  info: ofOne("info"),
  why,
  output,
  changes: ofOne("changes"),
  usage,
  budget,
  approvals,
  ask_operator: (ground, args) => askOperator({ ...ground, key: keyed(ground, args) }, args),
};
