/** agent logs: the records of a worker so far, or until its end; or its raw output. */
import { setTimeout as sleep } from "node:timers/promises";
import { RAW_ENVELOPE_MAX_BYTES, RAW_POLL_MS, RAW_SLICE_BYTES, TAIL_MAX_RECORDS } from "../../base/limits.ts";
import type { Client } from "../../daemon/client.ts";
import { bytesInline, outputLimits } from "../../protocol/artifactize.ts";
import { cursorOf } from "../../protocol/cursor.ts";
import { asHoldfastError, HoldfastError } from "../../protocol/errors.ts";
import { success } from "../../protocol/outcome.ts";
import { type RawPlace, rawStep } from "../../protocol/raw.ts";
import type { LogRecord } from "../../protocol/records.ts";
import type { TreeNode } from "../../protocol/replies/trees.ts";
import type { WorkerInfo } from "../../runtime/replies.ts";
import type { CommandResult, Context } from "../context.ts";
import { outlasting } from "../outlast.ts";
import type { Call } from "../parse.ts";
import { goesOn, isPiece } from "../render/pieces.ts";
import { isShown } from "../render/sentences.ts";
import { neutralise } from "../render/terminal.ts";
import { follow, leavesRunning } from "./follow.ts";
import { logsOfCopy } from "./logs-copy.ts";

export const logsProblems = ({ flags, args }: Call): readonly string[] => {
  const problems: string[] = [];
  const ofRecords = ["tail", "since", "until", "timestamps"].filter((name) => flags[name] !== undefined);
  if (flags.raw && ofRecords.length > 0)
    problems.push(`--raw does not take --${ofRecords[0]}: it has bytes, not records`);
  if (flags.raw && args.length > 1) problems.push("--raw takes one worker");
  if (flags.follow && flags.until !== undefined)
    problems.push("agent logs takes --follow or --until, not both");
  if (flags.stderr && !flags.raw) problems.push("--stderr goes with --raw");
  if (((flags.tail as number | undefined) ?? 0) > TAIL_MAX_RECORDS)
    problems.push(`--tail may be at most ${TAIL_MAX_RECORDS}`);
  return problems;
};

export const logs = async (context: Context): Promise<CommandResult> => {
  const { call, flags } = context;
  const refs = call.args;
  const client = await context.connect();
  if (flags.follow) leavesRunning(context, refs);
  if (flags.raw) return raw(context, client, refs[0]!);
  const found = await settled(loggedWorkers(client, refs));
  if (found instanceof HoldfastError) {
    const copied = found.code === "WORKER_NOT_FOUND" ? await copyOfLogs(context, client) : undefined;
    if (copied === undefined) throw found;
    return copied;
  }
  const workers = found;
  for (const { id, name } of workers) context.know(id, name);
  const ids = workers.map(({ id }) => id);
  const last = Math.max(...workers.map(({ last_seq }) => last_seq));
  const tail = flags.tail as number | undefined;
  const range = {
    from: flags.since === undefined ? 0 : undefined,
    since_ms: flags.since as number | undefined,
  };
  const isWanted = untilOf(flags.until as number | undefined);
  if (tail === undefined) {
    const until = flags.follow ? undefined : last;
    return success(await follow(context, { ...range, ids, until, follow: false }, { isWanted }));
  }
  const shown = showsAll(context) ? undefined : isShown;
  const newest: LogRecord[] = [];
  if (tail > 0)
    for (const worker of workers)
      newest.push(...(await newestRecords(client, worker, tail, { ...range, shown, isWanted })));
  newest.sort((a, b) => a.seq - b.seq);
  for (const record of newest) await context.record(record);
  if (!flags.follow) {
    const { epoch } = await client.request("daemon/status", {});
    return success({ next: last, records: newest.length, cursor: cursorOf(epoch, last) });
  }
  const rest = await follow(context, { ids, from: last, follow: false });
  return success({ ...rest, records: newest.length + rest.records });
};

const settled = <Value>(asked: Promise<Value>): Promise<Value | HoldfastError> =>
  asked.catch((cause: unknown) => asHoldfastError(cause));

/** The worker may be one of the cluster, and its machine away. */
const copyOfLogs = (context: Context, client: Client): Promise<CommandResult | undefined> => {
  const { since, until } = context.flags as { readonly since?: number; readonly until?: number };
  const isOldEnough = untilOf(until) ?? (() => true);
  const oldest = since === undefined ? 0 : Date.now() - since;
  const isWanted = (record: LogRecord): boolean =>
    isOldEnough(record) && Date.parse(record.recorded_at) >= oldest;
  const shown = showsAll(context) ? undefined : isShown;
  return logsOfCopy(context, client, isWanted, (records, count) =>
    count === 0 ? [] : records.slice(textsOf(records, shown).at(-count) ?? 0),
  );
};

/** Whether a record is at least so old; undefined without a bound. */
const untilOf = (age_ms: number | undefined): ((record: LogRecord) => boolean) | undefined => {
  if (age_ms === undefined) return undefined;
  const newest = Date.now() - age_ms;
  return ({ recorded_at }) => Date.parse(recorded_at) <= newest;
};

type LoggedWorker = Pick<WorkerInfo, "id" | "name" | "last_seq">;

/** The workers that are named, or that are below a tree or a supervisor that is; each once. */
const loggedWorkers = async (client: Client, refs: readonly string[]): Promise<readonly LoggedWorker[]> => {
  const workers = new Map<string, LoggedWorker>();
  for (const ref of refs) for (const worker of await workersOf(client, ref)) workers.set(worker.id, worker);
  return [...workers.values()];
};

const workersOf = async (client: Client, ref: string): Promise<readonly LoggedWorker[]> => {
  const found = await client.ask("agent/info", { id: ref, here: true });
  if (found.ok) return [found.value];
  const node = found.error.code === "WORKER_NOT_FOUND" ? await supervisorNamed(client, ref) : undefined;
  if (node === undefined) throw found.error;
  const below = idsBelow(node);
  if (below.length === 0)
    throw new HoldfastError("WORKER_NOT_FOUND", `The supervisor ${ref} has no workers.`);
  return Promise.all(below.map((id) => client.request("agent/info", { id })));
};

const supervisorNamed = async (client: Client, name: string): Promise<TreeNode | undefined> => {
  const named = (node: TreeNode): TreeNode | undefined =>
    node.type === "supervisor" && (node.name === name || node.id === name)
      ? node
      : node.children.map(named).find((one) => one !== undefined);
  return named(await client.request("agent/tree", {}));
};

const idsBelow = ({ type, id, children }: TreeNode): readonly string[] =>
  type === "worker" ? [id, ...children.flatMap(idsBelow)] : children.flatMap(idsBelow);

const showsAll = ({ mode, flags }: Context): boolean => mode !== "text" || flags.verbose === true;

interface NewestFilter {
  readonly from?: number | undefined;
  readonly since_ms?: number | undefined;
  /** Undefined: every record is shown. */
  readonly shown: ((record: LogRecord) => boolean) | undefined;
  /** Undefined: records of any age are wanted. */
  readonly isWanted?: ((record: LogRecord) => boolean) | undefined;
}

/** The index at which each shown text begins: a message in pieces is one text. */
const textsOf = (records: readonly LogRecord[], shown: NewestFilter["shown"]): readonly number[] => {
  if (shown === undefined) return [...records.keys()];
  let last: LogRecord | undefined;
  return records.flatMap((record, at) => {
    if (!shown(record)) return [];
    const isOne = !goesOn(last, record);
    last = record;
    return isOne ? [at] : [];
  });
};

/** Enough of the newest records to show `count` texts. It requests more while too many records show nothing. */
export const newestRecords = async (
  client: Client,
  worker: Pick<WorkerInfo, "id" | "last_seq">,
  count: number,
  { from, since_ms, shown, isWanted = () => true }: NewestFilter,
): Promise<readonly LogRecord[]> => {
  for (let tail = count; ; tail = Math.min(tail * 4, TAIL_MAX_RECORDS)) {
    const all: LogRecord[] = [];
    const query = { ids: [worker.id], from, since_ms, tail, until: worker.last_seq, follow: false };
    await client.watch(query, (record) => void all.push(record));
    const records = all.filter(isWanted);
    const seen = textsOf(records, shown);
    // Records that show nothing are kept between the others, because a line may depend on them.
    const first = records[seen.at(-count) ?? 0];
    // The oldest text may have begun before these records.
    const isWhole = seen.length > count || shown === undefined || first === undefined || !isPiece(first);
    if (seen.length >= count && isWhole) return records.slice(seen.at(-count));
    if (all.length < tail || tail === TAIL_MAX_RECORDS) return records.slice(seen.at(-count));
  }
};

/** How many bytes one envelope holds. They cannot go into an artifact, because they are not masked. */
const mostOf = ({ mode, env }: Context): number => {
  if (mode === "text") return Number.POSITIVE_INFINITY;
  return mode === "json" ? RAW_ENVELOPE_MAX_BYTES : bytesInline(outputLimits(env).inline_max_bytes);
};

const raw = async (context: Context, client: Client, id: string): Promise<CommandResult> => {
  const stream = context.flags.stderr ? "stderr" : "stdout";
  const parts: Uint8Array[] = [];
  const decoder = new TextDecoder();
  const write = (bytes: Uint8Array): void | Promise<void> =>
    context.stdout(context.isStdoutTerminal ? neutralise(decoder.decode(bytes, { stream: true })) : bytes);
  const resume = (): string => `agent logs ${id} --raw -f`;
  let place: RawPlace = { incarnation: undefined, offset: 0 };
  let read = 0;
  let released = 0;
  const most = mostOf(context);
  const ask = (asked: Client) =>
    asked.request("agent/raw", { id, stream, ...place, max_bytes: Math.min(RAW_SLICE_BYTES, most - read) });
  for (;;) {
    const answer = await (context.flags.follow ? outlasting(context, { resume }, ask) : ask(client));
    const { bytes, next, wait, ...slice } = rawStep(answer, context.flags.follow === true);
    released += slice.released;
    if (slice.released > 0)
      context.warn(
        `${slice.released} bytes of its ${stream} are no longer kept raw; the log has them: agent logs ${id}`,
      );
    read += bytes.length;
    if (context.mode !== "text") parts.push(bytes);
    else if (bytes.length > 0) await write(bytes);
    const isFull = read >= most;
    if (isFull || next === undefined) {
      if (isFull)
        context.warn(
          `Cut at ${read} bytes; text mode has the rest: agent logs ${id} --raw${context.flags.stderr ? " --stderr" : ""} -o text`,
        );
      const base64 = Buffer.concat(parts).toString("base64");
      const whole = success({ id, stream, base64, bytes: read, released, truncated: isFull });
      return isFull ? { ...whole, meta: { truncated: true } } : whole;
    }
    place = next;
    if (wait) await sleep(RAW_POLL_MS);
  }
};
