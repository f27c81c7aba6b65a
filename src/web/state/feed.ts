/**
 * The records of the log as they come, over one stream for the whole tab. It outlasts the daemon: it goes on behind the last
 * record that it has. `EventSource` cannot send a token in a header, so the stream is read with `fetch`.
 */
import { WEB_FRAME_MS, WEB_RECONNECT_MS, WEB_SILENCE_MAX_MS } from "../../base/limits.ts";
import type { LogRecord } from "../../protocol/records.ts";
import { harmless } from "../model/harmless.ts";
import { makeEventReader } from "../model/server-events.ts";
import { isUnauthorised, type Login, RequestFailure } from "./login.ts";

interface EventPage {
  readonly records: readonly LogRecord[];
  /** The cursor behind the last one. */
  readonly cursor: string;
}

/** A stream that ends before it has everything says why. */
const throwEnd = (end: unknown): void => {
  const { code, message = "" } = end as { readonly code?: string; readonly message?: string };
  if (code !== undefined) throw new RequestFailure(message, { code });
};

/** Reads a stream of events to its end. Rejects if it breaks, or is silent for too long. */
export const readEvents = async (
  session: Login,
  query: string,
  take: (page: EventPage) => void,
  { after = "", signal }: { readonly after?: string; readonly signal: AbortSignal },
): Promise<void> => {
  const silent = new AbortController();
  const stop = AbortSignal.any([signal, silent.signal]);
  const headers: Record<string, string> = after === "" ? {} : { "last-event-id": after };
  let watch = setTimeout(() => silent.abort(), WEB_SILENCE_MAX_MS);
  try {
    const response = await session.fetch(`/api/events?${query}`, { headers, signal: stop });
    const read = makeEventReader();
    const pieces = response.body?.pipeThrough(new TextDecoderStream()) as AsyncIterable<string> | undefined;
    take({ records: [], cursor: after });
    for await (const piece of pieces ?? []) {
      clearTimeout(watch);
      watch = setTimeout(() => silent.abort(), WEB_SILENCE_MAX_MS);
      const all = read(piece);
      const events = all.filter(({ type }) => type === "message");
      const records = events.map(({ data }) => harmless(data) as LogRecord);
      const last = events.at(-1);
      if (last !== undefined) take({ records, cursor: last.id });
      const end = all.find(({ type }) => type === "end");
      if (end !== undefined) throwEnd(harmless(end.data));
    }
  } finally {
    clearTimeout(watch);
  }
};

export type FeedState = "connecting" | "live" | "lost";

export class RecordFeed {
  state: FeedState = "connecting";
  private readonly session: Login;
  private readonly stop = new AbortController();
  private readonly takers = new Set<(records: readonly LogRecord[]) => void>();
  private readonly watchers = new Set<(state: FeedState) => void>();
  private cursor = "";
  private waiting: LogRecord[] = [];
  private frame: ReturnType<typeof setTimeout> | undefined;

  constructor(session: Login) {
    this.session = session;
    void this.run();
  }

  /** Hands over what has come, every WEB_FRAME_MS. Returns the end of it. */
  onRecords(take: (records: readonly LogRecord[]) => void): () => void {
    this.takers.add(take);
    return () => this.takers.delete(take);
  }

  onState(watch: (state: FeedState) => void): () => void {
    this.watchers.add(watch);
    return () => this.watchers.delete(watch);
  }

  close(): void {
    this.stop.abort();
    clearTimeout(this.frame);
  }

  private async run(): Promise<void> {
    const { signal } = this.stop;
    while (!signal.aborted) {
      try {
        const query = this.cursor === "" ? "tail=0" : "";
        await readEvents(this.session, query, (page) => this.take(page), { after: this.cursor, signal });
      } catch (cause) {
        if (signal.aborted || isUnauthorised(cause)) return;
        // An older copy of the log was put back: there is nothing behind this cursor any more.
        if (cause instanceof RequestFailure && cause.code === "CURSOR_UNKNOWN") this.cursor = "";
      }
      this.become("lost");
      await new Promise((resolve) => setTimeout(resolve, WEB_RECONNECT_MS));
    }
  }

  private take({ records, cursor }: EventPage): void {
    this.become("live");
    this.cursor = cursor;
    if (records.length === 0) return;
    this.waiting.push(...records);
    this.frame ??= setTimeout(() => this.flush(), WEB_FRAME_MS);
  }

  private flush(): void {
    this.frame = undefined;
    const records = this.waiting;
    this.waiting = [];
    for (const take of [...this.takers]) take(records);
  }

  private become(state: FeedState): void {
    if (this.state === state) return;
    this.state = state;
    for (const watch of [...this.watchers]) watch(state);
  }
}
