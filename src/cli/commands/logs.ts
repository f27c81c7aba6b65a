/** agent logs: the records of one worker so far, or on to its end; or the raw bytes of its stdout. */
import { setTimeout as sleep } from "node:timers/promises";
import { success } from "../../protocol/outcome.ts";
import type { Client } from "../client.ts";
import type { Context, Result } from "../context.ts";
import type { Call } from "../parse.ts";
import { neutralise } from "../render/terminal.ts";
import { follow, leavesRunning } from "./follow.ts";

const RAW_SLICE_BYTES = 262_144;
const RAW_POLL_MS = 200;
/** In the JSON modes the bytes go into one envelope, so there are at most so many. */
const RAW_ENVELOPE_MAX_BYTES = 1024 * 1024;

export const logsProblems = ({ flags }: Call): readonly string[] =>
  flags.raw && (flags.tail !== undefined || flags.since !== undefined)
    ? ["logs --raw takes neither --tail nor --since"]
    : [];

export const logs = async (context: Context): Promise<Result> => {
  const { call, flags } = context;
  const id = call.args[0]!;
  const client = await context.connect();
  if (flags.follow) leavesRunning(context, [id]);
  if (flags.raw) return raw(context, client, id);
  const query = {
    ids: [id],
    from: flags.since === undefined ? 0 : undefined,
    since_ms: flags.since as number | undefined,
    tail: flags.tail as number | undefined,
  };
  if (flags.follow) return success(await follow(context, client, { ...query, follow: false }));
  return success(await soFar(context, client, id, query));
};

/** The daemon ends a stream when its worker has ended; "so far" ends at the record that is the worker's newest now. */
const soFar = async (
  context: Context,
  client: Client,
  id: string,
  query: { since_ms?: number | undefined; tail?: number | undefined },
): Promise<{ next: number; records: number }> => {
  const worker = await client.request("agent/info", { id });
  context.know(worker.id, worker.name);
  const isOld =
    query.since_ms !== undefined &&
    (worker.last_event_at === null || Date.parse(worker.last_event_at) < Date.now() - query.since_ms);
  if (isOld || query.tail === 0 || worker.last_seq === 0) return { next: worker.last_seq, records: 0 };
  let records = 0;
  let reached: () => void = () => {};
  const done = new Promise<void>((resolve) => {
    reached = resolve;
  });
  const stream = client.watch({ ...query, ids: [worker.id], follow: false }, (record) => {
    if (record.seq > worker.last_seq) return;
    records++;
    if (record.seq === worker.last_seq) reached();
    return context.record(record);
  });
  await Promise.race([done, stream]);
  stream.catch(() => {});
  return { next: worker.last_seq, records };
};

const raw = async (context: Context, client: Client, id: string): Promise<Result> => {
  const parts: Buffer[] = [];
  let offset = 0;
  for (;;) {
    const slice = await client.request("agent/raw", {
      id,
      stream: "stdout",
      offset,
      max_bytes: RAW_SLICE_BYTES,
    });
    const bytes = Buffer.from(slice.base64, "base64");
    offset = slice.next;
    if (context.mode !== "text") parts.push(bytes);
    else if (bytes.length > 0)
      await context.stdout(context.isStdoutTerminal ? neutralise(bytes.toString("utf8")) : bytes);
    const isFull = context.mode !== "text" && offset >= RAW_ENVELOPE_MAX_BYTES;
    if (isFull || (bytes.length === 0 && (slice.ended || !context.flags.follow))) {
      if (isFull)
        context.warn(
          `Cut at ${RAW_ENVELOPE_MAX_BYTES} bytes; the rest is in text mode: agent logs ${id} --raw -o text`,
        );
      return success({
        id,
        stream: "stdout",
        base64: Buffer.concat(parts).toString("base64"),
        bytes: offset,
        truncated: isFull,
      });
    }
    if (bytes.length === 0) await sleep(RAW_POLL_MS);
  }
};
