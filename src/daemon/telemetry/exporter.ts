/**
 * Telemetry while a daemon runs: the records of the log are folded into spans and metrics, and two fibers post them. A collector
 * that is away costs a bounded queue, and what finds no room there is counted. It runs in a thread of its own (docs/decisions/0065).
 */
import type { Agent } from "node:http";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { Cause, Clock, Effect, Latch, type Scope } from "effect";
import type { Defects } from "../../actors/defects.ts";
import { attempt } from "../../actors/machine/attempt.ts";
import { KIND_FACTS } from "../../adapters/kinds.ts";
import { replaceFile } from "../../base/files/replace-file.ts";
import {
  READ_PAGE_RECORDS,
  TELEMETRY_ANSWER_MAX_BYTES,
  TELEMETRY_BATCH_MAX_SPANS,
  TELEMETRY_END_MAX_MS,
  TELEMETRY_KEEP_EVERY_MS,
  TELEMETRY_REREAD_MS,
  TELEMETRY_RETRY_MAX_MS,
  TELEMETRY_RETRY_MIN_MS,
} from "../../base/limits.ts";
import { MetricStore } from "../../control/telemetry/metrics.ts";
import { SpanQueue } from "../../control/telemetry/queue.ts";
import { SpanFold, TRACED } from "../../control/telemetry/spans.ts";
import type { TracedRecord, TracedWorker } from "../../control/telemetry/traced.ts";
import { cursorOf } from "../../protocol/cursor.ts";
import type { HoldfastError } from "../../protocol/errors.ts";
import type { BareRecord, LogReader } from "../../store/event-log.ts";
import type { Log } from "../log.ts";
import { sendPost } from "../posting.ts";
import type { TelemetryStanding } from "../telemetry-api.ts";
import type { TelemetryThreadData } from "./messages.ts";
import type { OtlpBody, OtlpEncoder } from "./otlp.ts";
import { endpointOf, type SignalSettings } from "./settings.ts";

export interface ExporterGround extends Omit<TelemetryThreadData, "source" | "log_file"> {
  readonly openLog: () => LogReader;
  readonly encoder: OtlpEncoder;
  readonly log: Log;
  readonly defects: Pick<Defects, "tell">;
  /** Opened when the log may have more. */
  readonly written: Latch.Latch;
  /** Facts of workers of whom the fold knows nothing. A worker that is on record no more is left out, and has no spans. */
  readonly lookUp: (ids: readonly string[]) => Effect.Effect<readonly (readonly [string, TracedWorker])[]>;
  readonly told: (standing: TelemetryStanding) => void;
}

/** How a post went: `again` if the same may be taken later. */
type PostOutcome =
  | { readonly ok: true }
  | { readonly ok: false; readonly again: boolean; readonly after_ms: number };

/** The statuses after which OTLP allows another post of the same. */
const AGAIN: ReadonlySet<number> = new Set([429, 502, 503, 504]);
const MS_PER_S = 1_000;
const compressed = promisify(gzip);

/** A kind without a provider is its own. */
const providerOf = (agent_kind: string): string =>
  KIND_FACTS.find(({ kind }) => kind === agent_kind)?.provider ?? agent_kind;

export class TelemetryExporter {
  private readonly ground: ExporterGround;
  private readonly fold: SpanFold;
  private readonly queue = new SpanQueue();
  private readonly metrics = new MetricStore();
  /** Opened when a whole batch waits. */
  private readonly full = Latch.makeUnsafe(false);
  private log: LogReader | undefined;
  /** The seq up to which the log is read. */
  private read: number;
  private kept = { seq: -1, at_ms: Number.NEGATIVE_INFINITY };
  /** A connection for each signal, used by post after post. */
  private readonly connections = new Map<SignalSettings, Agent>();
  private sent = 0;
  private refused = 0;
  private failing: string | null = null;

  constructor(ground: ExporterGround) {
    this.ground = ground;
    this.read = ground.from;
    this.fold = new SpanFold({ isGenAi: ground.settings.isGenAi, providerOf });
  }

  /** Runs until the scope ends; then it reads what is written, and posts once what waits. */
  readonly run: Effect.Effect<void, never, Scope.Scope> = Effect.gen({ self: this }, function* () {
    const { traces, metrics, spans_every_ms, metrics_every_ms } = this.ground.settings;
    const started_ms = yield* Clock.currentTimeMillis;
    const posts = [
      ...(traces === undefined ? [] : [this.postSpans(traces)]),
      ...(metrics === undefined ? [] : [this.postMetrics(metrics, started_ms)]),
    ];
    yield* Effect.addFinalizer(() =>
      Effect.sync(() => {
        for (const agent of this.connections.values()) agent.destroy();
        this.log?.close();
      }),
    );
    const last = Effect.all([Effect.ignore(this.readAll), ...posts], { discard: true });
    yield* Effect.addFinalizer(() =>
      Effect.timeoutOption(last, TELEMETRY_END_MAX_MS).pipe(Effect.andThen(this.keep)),
    );
    yield* Effect.forkScoped(this.lasting("reading the log for telemetry", this.reading));
    if (traces !== undefined) {
      const waited = Effect.timeoutOption(this.full.await, spans_every_ms);
      const sending = Effect.andThen(waited, this.sendSpans(traces));
      yield* Effect.forkScoped(this.lasting("sending spans", sending));
    }
    if (metrics !== undefined) {
      const sending = Effect.andThen(Effect.sleep(metrics_every_ms), this.postMetrics(metrics, started_ms));
      yield* Effect.forkScoped(this.lasting("sending metrics", sending));
    }
  });

  /** Does it for ever, and goes on after a defect. */
  private lasting(where: string, work: Effect.Effect<unknown>): Effect.Effect<never> {
    const told = (cause: Cause.Cause<never>) =>
      Effect.andThen(
        Effect.sync(() => this.ground.defects.tell(where, Cause.squash(cause))),
        Effect.sleep(TELEMETRY_REREAD_MS),
      );
    return Effect.forever(Effect.catchCause(Effect.asVoid(work), told));
  }

  private readonly reading: Effect.Effect<void> = Effect.suspend(() =>
    Effect.catch(Effect.andThen(this.ground.written.await, this.readAll), (error) =>
      Effect.suspend(() => {
        this.ground.log("warn", "the log cannot be read for telemetry", { cause: error.message });
        return Effect.sleep(TELEMETRY_REREAD_MS);
      }),
    ),
  );

  /** Reads and folds what is written, page after page. */
  private readonly readAll: Effect.Effect<void, HoldfastError> = Effect.suspend(() => {
    Latch.closeUnsafe(this.ground.written);
    return Effect.gen({ self: this }, function* () {
      for (let isMore = true; isMore; ) {
        isMore = yield* this.readPage;
        yield* Effect.yieldNow;
      }
      this.tell();
    });
  });

  /** True if there is more to read. A log that could not be opened is opened anew. */
  private readonly readPage: Effect.Effect<boolean, HoldfastError> = Effect.gen({ self: this }, function* () {
    this.log ??= yield* attempt(this.ground.openLog);
    const { log } = this;
    const head = yield* attempt(() => log.head());
    const { records, scanned } = yield* attempt(() => log.readBare(this.read, READ_PAGE_RECORDS, TRACED));
    let isLearned = false;
    // One payload at a time: a page of them that lives at once is copied by each collection of V8.
    for (const record of records) {
      if (!isLearned && !this.fold.knows(record)) {
        yield* this.learn(records);
        isLearned = true;
      }
      this.take({ ...record, payload: JSON.parse(record.payload) } as TracedRecord);
    }
    if (this.queue.size >= TELEMETRY_BATCH_MAX_SPANS) Latch.openUnsafe(this.full);
    this.read = scanned;
    return scanned < head;
  });

  /** Asks once for all workers of a page of whom the fold knows nothing. */
  private learn(records: readonly BareRecord[]): Effect.Effect<void> {
    return Effect.gen({ self: this }, function* () {
      const unknown = records.filter((record) => !this.fold.knows(record));
      const ids = new Set(unknown.flatMap(({ worker_id = [] }) => worker_id));
      for (const [id, worker] of yield* this.ground.lookUp([...ids])) this.fold.learn(id, worker);
    });
  }

  private take(record: TracedRecord): void {
    const { traces, metrics } = this.ground.settings;
    const { spans, measured } = this.fold.take(record);
    if (traces !== undefined) for (const span of spans) this.queue.push(span);
    if (metrics !== undefined) for (const one of measured) this.metrics.take(one);
  }

  private tell(): void {
    this.ground.told({
      endpoint: endpointOf(this.ground.settings),
      spans_sent: this.sent,
      spans_dropped: this.queue.dropped + this.refused,
      spans_waiting: this.queue.size,
      failing: this.failing,
    });
  }

  /** Posts what waits, and goes on while whole batches do. A collector that is away is asked again, ever more seldom. */
  private sendSpans(to: SignalSettings): Effect.Effect<void> {
    return Effect.gen({ self: this }, function* () {
      for (let wait_ms = TELEMETRY_RETRY_MIN_MS; ; ) {
        Latch.closeUnsafe(this.full);
        const posted = yield* this.postSpans(to);
        if (performance.now() - this.kept.at_ms >= TELEMETRY_KEEP_EVERY_MS) yield* this.keep;
        if (!posted.ok && posted.again) {
          yield* Effect.sleep(Math.max(wait_ms, posted.after_ms));
          wait_ms = Math.min(TELEMETRY_RETRY_MAX_MS, 2 * wait_ms);
        } else {
          if (this.queue.size < TELEMETRY_BATCH_MAX_SPANS) return;
          wait_ms = TELEMETRY_RETRY_MIN_MS;
        }
      }
    });
  }

  /** One batch. */
  private postSpans(to: SignalSettings): Effect.Effect<PostOutcome> {
    return Effect.gen({ self: this }, function* () {
      const batch = this.queue.first(TELEMETRY_BATCH_MAX_SPANS);
      if (batch.length === 0) return { ok: true } as const;
      const posted = yield* this.post(to, this.ground.encoder.spans(batch, to.protocol));
      if (posted.ok) this.sent += batch.length;
      else if (!posted.again) this.refused += batch.length;
      if (posted.ok || !posted.again) this.queue.remove(batch);
      this.tell();
      return posted;
    });
  }

  /** Each post has all that was measured since the start, so one that fails loses nothing. */
  private postMetrics(to: SignalSettings, started_ms: number): Effect.Effect<unknown> {
    return Effect.gen({ self: this }, function* () {
      const all = this.metrics.all();
      if (all.length === 0) return;
      const now_ms = yield* Clock.currentTimeMillis;
      yield* this.post(to, this.ground.encoder.metrics(all, started_ms, now_ms, to.protocol));
      this.tell();
    });
  }

  private post(to: SignalSettings, { bytes, type }: OtlpBody): Effect.Effect<PostOutcome> {
    const { headers, timeout_ms, isCompressed } = to;
    const url = new URL(to.url);
    const posting = Effect.tryPromise({
      // A post that is interrupted leaves its connection to the last one.
      try: async (signal) =>
        sendPost({
          url,
          headers: {
            ...headers,
            ...this.ground.headers,
            "content-type": type,
            ...(isCompressed ? { "content-encoding": "gzip" } : {}),
          },
          body: isCompressed ? await compressed(bytes) : bytes,
          timeout_ms,
          answer_max_bytes: TELEMETRY_ANSWER_MAX_BYTES,
          agent: this.connectionOf(to),
          signal,
        }),
      catch: (cause) => cause as NodeJS.ErrnoException,
    });
    return Effect.match(posting, {
      onSuccess: ({ status, retry_after_s = 0 }) => {
        if (status >= 200 && status < 300) return this.went();
        return this.failed(
          `${url.host} answered with status ${status}.`,
          AGAIN.has(status),
          retry_after_s * MS_PER_S,
        );
      },
      onFailure: ({ message, code }) => this.failed(code ? `${message} (${code})` : message, true, 0),
    });
  }

  private connectionOf(to: SignalSettings): Agent {
    const known = this.connections.get(to);
    if (known !== undefined) return known;
    const { Agent } = process.getBuiltinModule(to.url.startsWith("https:") ? "node:https" : "node:http");
    const fresh = new Agent({ keepAlive: true, maxSockets: 1 });
    this.connections.set(to, fresh);
    return fresh;
  }

  private went(): PostOutcome {
    if (this.failing !== null) this.ground.log("info", "telemetry is taken again");
    this.failing = null;
    return { ok: true };
  }

  private failed(reason: string, again: boolean, after_ms: number): PostOutcome {
    if (this.failing === null) this.ground.log("warn", "telemetry was not taken", { reason });
    this.failing = reason;
    return { ok: false, again, after_ms: Math.min(after_ms, TELEMETRY_RETRY_MAX_MS) };
  }

  /** The next daemon begins before the oldest span that was not sent. */
  private readonly keep: Effect.Effect<void> = Effect.suspend(() => {
    const { cursor_file, epoch, log } = this.ground;
    const seq = this.queue.oldest === undefined ? this.read : this.queue.oldest - 1;
    if (seq === this.kept.seq) return Effect.void;
    this.kept = { seq, at_ms: performance.now() };
    const text = `${JSON.stringify({ version: 1, cursor: cursorOf(epoch, seq) })}\n`;
    return Effect.catch(
      attempt(() => replaceFile(cursor_file, text)),
      ({ message }) =>
        Effect.sync(() => log("warn", "the cursor of telemetry cannot be kept", { cause: message })),
    );
  });
}
