/** One stream of the records of several hosts, each with a cursor of all of them. */
import { setTimeout as sleep } from "node:timers/promises";
import { HOST_AGAIN_POLL_MS, HOST_AGAIN_WAIT_MS } from "../base/limits.ts";
import { cursorOf } from "../protocol/cursor.ts";
import { asHoldfastError, HoldfastError } from "../protocol/errors.ts";
import { hostsCursorOf, readHostsCursor } from "../protocol/hosts-cursor.ts";
import type * as replies from "../runtime/replies.ts";
import type { LogRecord } from "./events.ts";
import { Pull } from "./remote/pull.ts";

type Status = Pick<replies.RuntimeStatus, "store_id" | "epoch" | "head">;

export interface HostWatch {
  /** The status of each host that answers; rejects if none does. */
  begin(): Promise<{
    readonly rows: readonly { readonly host: string; readonly value: Status }[];
    readonly failed: readonly { readonly host: string; readonly error: HoldfastError }[];
  }>;
  /** The records of one host after a cursor, until the signal. */
  records(host: string, from: string, ended: AbortSignal): Promise<AsyncIterable<LogRecord>>;
  report(message: string, cause?: unknown): void;
}

interface WatchBounds {
  readonly from: 0 | string | undefined;
  readonly signal: AbortSignal | undefined;
}

type ShownRecord = LogRecord & { readonly host: string; readonly cursor: string };

export async function* allRecords(watch: HostWatch, bounds: WatchBounds): AsyncGenerator<ShownRecord> {
  const known = typeof bounds.from === "string" ? readHostsCursor(bounds.from) : undefined;
  if (typeof bounds.from === "string" && known === undefined)
    throw new HoldfastError("INVALID_REQUEST", `from: 0 or the cursor of a record, not "${bounds.from}".`, {
      phase: "validation",
    });
  const { rows, failed } = await watch.begin();
  for (const { host, error } of failed) watch.report(`${host}: ${error.message}`, error);
  const places = new Map<string, string>();
  for (const { host, value } of rows) {
    const { store_id, epoch, head } = value;
    if (places.has(store_id))
      throw new HoldfastError("INVALID_REQUEST", `${host} is the daemon of another host too; name it once.`);
    if (known !== undefined && !known.has(store_id))
      watch.report(`${host}: the cursor has no place in this log; its new records follow.`);
    places.set(store_id, known?.get(store_id) ?? cursorOf(epoch, bounds.from === 0 ? 0 : head));
  }
  const over = new AbortController();
  const ended = bounds.signal === undefined ? over.signal : AbortSignal.any([over.signal, bounds.signal]);
  const items = new Pull<ShownRecord>(() => undefined);
  // One sender at a time waits for the reader.
  let line: Promise<void> | undefined;
  const push = (record: ShownRecord): Promise<void> => {
    line = (line ?? Promise.resolve()).then(() => items.push(record));
    return line;
  };
  const streams = rows.map(({ host, value }) => new HostStream(watch, host, value, places).into(push, ended));
  void Promise.all(streams).then((errors) =>
    items.finish(errors.every((error) => error !== undefined) ? errors[0] : undefined),
  );
  try {
    for (let next = await items.next(); next.done !== true; next = await items.next()) yield next.value;
  } finally {
    await items.return();
    over.abort();
  }
}

/** The records of one host, over the ends of its connection. */
class HostStream {
  private readonly watch: HostWatch;
  private readonly host: string;
  private readonly status: Status;
  /** The newest place of each log: shared by all hosts. */
  private readonly places: Map<string, string>;

  constructor(watch: HostWatch, host: string, status: Status, places: Map<string, string>) {
    this.watch = watch;
    this.host = host;
    this.status = status;
    this.places = places;
  }

  /** Resolves at its end, with the error that ended it. A host that is away is asked again. */
  async into(
    push: (record: ShownRecord) => Promise<void>,
    ended: AbortSignal,
  ): Promise<HoldfastError | undefined> {
    const { host, watch } = this;
    let awaySince: number | undefined;
    for (;;) {
      try {
        for await (const record of await watch.records(host, this.place(), ended)) {
          awaySince = undefined;
          await push(this.shown(record));
        }
        return undefined;
      } catch (cause) {
        if (ended.aborted) return undefined;
        const error = asHoldfastError(cause);
        const isAway = error.code === "UNAVAILABLE" || error.code === "SUPERVISOR_DOWN";
        if (awaySince === undefined) watch.report(`${host}: ${error.message}`, error);
        awaySince ??= performance.now();
        if (!isAway || performance.now() - awaySince > HOST_AGAIN_WAIT_MS) return error;
        await sleep(HOST_AGAIN_POLL_MS, undefined, { signal: ended }).catch(() => undefined);
      }
    }
  }

  private place(): string {
    return this.places.get(this.status.store_id)!;
  }

  private shown(record: LogRecord): ShownRecord {
    const { store_id, epoch } = this.status;
    this.places.set(store_id, cursorOf(epoch, record.seq));
    return { ...record, host: this.host, cursor: hostsCursorOf(this.places) };
  }
}
