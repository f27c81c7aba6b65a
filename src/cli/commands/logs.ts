/** agent logs: the records of a worker so far, or until its end; or its raw output. */
import { setTimeout as sleep } from "node:timers/promises";
import { RAW_ENVELOPE_MAX_BYTES, RAW_POLL_MS, RAW_SLICE_BYTES, TAIL_MAX_RECORDS } from "../../base/limits.ts";
import type { Client } from "../../daemon/client.ts";
import { bytesInline, outputLimits } from "../../protocol/artifactize.ts";
import { cursorOf } from "../../protocol/cursor.ts";
import { success } from "../../protocol/outcome.ts";
import { type RawPlace, rawStep } from "../../protocol/raw.ts";
import type { LogRecord } from "../../protocol/records.ts";
import type { WorkerInfo } from "../../runtime/replies.ts";
import type { CommandResult, Context } from "../context.ts";
import { outlasting } from "../outlast.ts";
import type { Call } from "../parse.ts";
import { goesOn, isPiece } from "../render/pieces.ts";
import { isShown } from "../render/sentences.ts";
import { neutralise } from "../render/terminal.ts";
import { follow, leavesRunning } from "./follow.ts";

export const logsProblems = ({ flags }: Call): readonly string[] => {
  const problems: string[] = [];
  if (flags.raw && (flags.tail !== undefined || flags.since !== undefined))
    problems.push("--raw takes neither --tail nor --since: it has bytes, not records");
  if (flags.stderr && !flags.raw) problems.push("--stderr goes with --raw");
  if (((flags.tail as number | undefined) ?? 0) > TAIL_MAX_RECORDS)
    problems.push(`--tail may be at most ${TAIL_MAX_RECORDS}`);
  return problems;
};

export const logs = async (context: Context): Promise<CommandResult> => {
  const { call, flags } = context;
  const ref = call.args[0]!;
  const client = await context.connect();
  if (flags.follow) leavesRunning(context, [ref]);
  if (flags.raw) return raw(context, client, ref);
  const worker = await client.request("agent/info", { id: ref });
  context.know(worker.id, worker.name);
  const tail = flags.tail as number | undefined;
  const range = {
    from: flags.since === undefined ? 0 : undefined,
    since_ms: flags.since as number | undefined,
  };
  if (tail === undefined) {
    const until = flags.follow ? undefined : worker.last_seq;
    return success(await follow(context, { ...range, ids: [worker.id], until, follow: false }));
  }
  const newest =
    tail === 0
      ? []
      : await newestRecords(client, worker, tail, {
          ...range,
          shown: showsAll(context) ? undefined : isShown,
        });
  for (const record of newest) await context.record(record);
  if (!flags.follow) {
    const { epoch } = await client.request("daemon/status", {});
    const cursor = cursorOf(epoch, worker.last_seq);
    return success({ next: worker.last_seq, records: newest.length, cursor });
  }
  const rest = await follow(context, { ids: [worker.id], from: worker.last_seq, follow: false });
  return success({ ...rest, records: newest.length + rest.records });
};

const showsAll = ({ mode, flags }: Context): boolean => mode !== "text" || flags.verbose === true;

interface NewestFilter {
  readonly from?: number | undefined;
  readonly since_ms?: number | undefined;
  /** Undefined: every record is shown. */
  readonly shown: ((record: LogRecord) => boolean) | undefined;
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
  { from, since_ms, shown }: NewestFilter,
): Promise<readonly LogRecord[]> => {
  for (let tail = count; ; tail = Math.min(tail * 4, TAIL_MAX_RECORDS)) {
    const records: LogRecord[] = [];
    const query = { ids: [worker.id], from, since_ms, tail, until: worker.last_seq, follow: false };
    await client.watch(query, (record) => void records.push(record));
    const seen = textsOf(records, shown);
    // Records that show nothing are kept between the others, because a line may depend on them.
    const first = records[seen.at(-count) ?? 0];
    // The oldest text may have begun before these records.
    const isWhole = seen.length > count || shown === undefined || first === undefined || !isPiece(first);
    if (seen.length >= count && isWhole) return records.slice(seen.at(-count));
    if (records.length < tail || tail === TAIL_MAX_RECORDS) return records.slice(seen.at(-count));
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
