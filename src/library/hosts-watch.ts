/** One stream of the records of several hosts, each with a cursor of all of them. */
import { setTimeout as sleep } from "node:timers/promises";
import { HOST_AGAIN_POLL_MS, HOST_AGAIN_WAIT_MS } from "../base/limits.ts";
import { cursorOf } from "../protocol/cursor.ts";
import { asHoldfastError, HoldfastError, isUnreached } from "../protocol/errors.ts";
import { HostPlaces } from "../protocol/host-places.ts";
import { isHostsCursor } from "../protocol/hosts-cursor.ts";
import type * as replies from "../runtime/replies.ts";
import type { LogRecord } from "./events.ts";
import { Pull } from "./remote/pull.ts";

type Status = Pick<replies.RuntimeStatus, "store_id" | "epoch" | "head">;

/** The records of one host: those after a cursor, or those that are at most so old. */
type HostStart = { readonly from: string } | { readonly since_ms: number };

export interface HostWatch {
  /** The status of each host that answers; rejects if none does. */
  begin(): Promise<{
    readonly rows: readonly { readonly host: string; readonly value: Status }[];
    readonly failed: readonly { readonly host: string; readonly error: HoldfastError }[];
  }>;
  status(host: string): Promise<Status>;
  /** The records of one host, until the signal. */
  records(host: string, start: HostStart, ended: AbortSignal): Promise<AsyncIterable<LogRecord>>;
  report(message: string, cause?: unknown): void;
}

interface WatchBounds {
  readonly from: 0 | string | undefined;
  /** False: it ends with the logs, and no host is waited for. */
  readonly follow: boolean;
  readonly signal: AbortSignal | undefined;
}

type ShownRecord = LogRecord & { readonly host: string; readonly cursor: string };

export async function* allRecords(watch: HostWatch, bounds: WatchBounds): AsyncGenerator<ShownRecord> {
  const { from, follow, signal } = bounds;
  if (typeof from === "string" && !isHostsCursor(from))
    throw new HoldfastError("INVALID_REQUEST", `from: 0 or the cursor of a record, not "${from}".`, {
      phase: "validation",
    });
  const call: WatchCall = { watch, from, places: new HostPlaces(from), began: performance.now() };
  const { rows, failed } = await watch.begin();
  for (const { host, error } of failed) watch.report(`${host}: ${error.message}`, error);
  const streams = rows.map(({ host, value }) => {
    const stream = new HostStream(call, host);
    stream.begin(value);
    return stream;
  });
  const away = failed.filter(({ error }) => follow && isUnreached(error));
  streams.push(...away.map(({ host }) => new HostStream(call, host)));
  const over = new AbortController();
  const ended = signal === undefined ? over.signal : AbortSignal.any([over.signal, signal]);
  const items = new Pull<ShownRecord>(() => undefined);
  // One sender at a time waits for the reader.
  let line: Promise<void> | undefined;
  const push = (record: ShownRecord): Promise<void> => {
    line = (line ?? Promise.resolve()).then(() => items.push(record));
    return line;
  };
  void Promise.all(streams.map((stream) => stream.into(push, ended))).then((errors) =>
    items.finish(errors.every((error) => error !== undefined) ? errors[0] : undefined),
  );
  try {
    for (let next = await items.next(); next.done !== true; next = await items.next()) yield next.value;
  } finally {
    await items.return();
    over.abort();
  }
}

/** The parts of one watch that its streams share. */
interface WatchCall {
  readonly watch: HostWatch;
  readonly from: 0 | string | undefined;
  readonly places: HostPlaces;
  /** Milliseconds of `performance.now()`. */
  readonly began: number;
}

/** The records of one host, over the ends of its connection. */
class HostStream {
  private readonly call: WatchCall;
  private readonly host: string;
  /** Undefined until the host has answered. */
  private status: Status | undefined;

  constructor(call: WatchCall, host: string) {
    this.call = call;
    this.host = host;
  }

  /** Begins at its place in the cursor, or at 0, or with its newest record. */
  begin(status: Status): void {
    this.join(status, cursorOf(status.epoch, this.call.from === 0 ? 0 : status.head));
  }

  /** Resolves at its end, with the error that ended it. A host that is away is asked again. */
  async into(
    push: (record: ShownRecord) => Promise<void>,
    ended: AbortSignal,
  ): Promise<HoldfastError | undefined> {
    const { host, call } = this;
    // A host that did not answer at the beginning was told then.
    let awaySince = this.status === undefined ? call.began : undefined;
    for (;;) {
      try {
        const status = this.status ?? (await this.late());
        for await (const record of await call.watch.records(host, this.start(), ended)) {
          awaySince = undefined;
          await push(this.shown(record, status));
        }
        return undefined;
      } catch (cause) {
        if (ended.aborted) return undefined;
        const error = asHoldfastError(cause);
        if (awaySince === undefined) call.watch.report(`${host}: ${error.message}`, error);
        awaySince ??= performance.now();
        if (!isUnreached(error) || performance.now() - awaySince > HOST_AGAIN_WAIT_MS) return error;
        await sleep(HOST_AGAIN_POLL_MS, undefined, { signal: ended }).catch(() => undefined);
      }
    }
  }

  /** It was away when the others began, so the live tail begins then: its place is known with its first record. */
  private async late(): Promise<Status> {
    const { call, host } = this;
    const status = await call.watch.status(host);
    this.join(status, call.from === 0 ? cursorOf(status.epoch, 0) : undefined);
    call.watch.report(`${host}: it answers, and its records follow.`);
    return status;
  }

  private join(status: Status, otherwise: string | undefined): void {
    const { places, watch, from } = this.call;
    const { store_id } = status;
    const known = places.beginningOf(store_id);
    places.at(this.host, { store_id, cursor: known ?? otherwise });
    if (typeof from === "string" && known === undefined)
      watch.report(`${this.host}: the cursor has no place in this log; its new records follow.`);
    this.status = status;
  }

  private start(): HostStart {
    const from = this.call.places.of(this.host)?.cursor;
    return from === undefined ? { since_ms: Math.ceil(performance.now() - this.call.began) } : { from };
  }

  private shown(record: LogRecord, { store_id, epoch }: Status): ShownRecord {
    const { places } = this.call;
    places.at(this.host, { store_id, cursor: cursorOf(epoch, record.seq) });
    return { ...record, host: this.host, cursor: places.cursor() };
  }
}
