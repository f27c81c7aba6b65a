/**
 * The daemon's side of the thread of telemetry: it tells that the log has more, and answers what only the runtime knows. A thread
 * that failed is followed by another one, which begins at the kept cursor.
 */
import { setFlagsFromString } from "node:v8";
import { Worker } from "node:worker_threads";
import { Effect, Fiber, Option, type Scope } from "effect";
import * as z from "zod";
import type { Defects } from "../../actors/defects.ts";
import { readNamed } from "../../base/files/regular-file.ts";
import {
  TELEMETRY_BEHIND_MAX_RECORDS,
  TELEMETRY_FILE_MAX_BYTES,
  TELEMETRY_HEAP_MAX_MIB,
  TELEMETRY_LOOK_EVERY_MS,
  TELEMETRY_NEW_MAX_MIB,
  TELEMETRY_REREAD_MS,
  TELEMETRY_THREAD_END_MAX_MS,
} from "../../base/limits.ts";
import { TRACED } from "../../control/telemetry/spans.ts";
import type { TracedWorker } from "../../control/telemetry/traced.ts";
import { CURSOR, partsOf } from "../../protocol/cursor.ts";
import type { HoldfastError } from "../../protocol/errors.ts";
import type { RuntimeApi } from "../../runtime/api.ts";
import type { Log } from "../log.ts";
import type { TelemetryApi, TelemetryStanding } from "../telemetry-api.ts";
import { runAsOthers, runWhereIdle } from "../thread-policy.ts";
import type { FromTelemetry, TelemetryThreadData, ToTelemetry } from "./messages.ts";
import { endpointOf } from "./settings.ts";

/** The thread's program: beside this file, as source; in a build, under a longer name. */
const { url } = import.meta;
const PROGRAM = new URL(url.endsWith(".ts") ? "./thread.ts" : "./telemetry-thread.js", url);

/** V8 reads this flag when it makes a heap. */
const SEMI_SPACE_FLAG = "--max-semi-space-size=";

export interface TelemetryGround {
  readonly runtime: Pick<RuntimeApi, "follow" | "info" | "status">;
  readonly log: Log;
  readonly defects: Pick<Defects, "tell">;
}

const File = z.object({ version: z.literal(1), cursor: z.string().regex(CURSOR) });

/** Undefined without a file that can be read. */
const keptIn = (file: string): string | undefined => {
  try {
    const bytes = readNamed(file, TELEMETRY_FILE_MAX_BYTES);
    return File.parse(JSON.parse(bytes?.toString("utf8") ?? "")).cursor;
  } catch {
    return undefined;
  }
};

type GivenData = Omit<TelemetryThreadData, "from">;

/** After the kept cursor; at the end of the log if there is none, or it is of another history, or too far behind. */
const beginning = ({ cursor_file, epoch }: GivenData, head: number): number => {
  const kept = keptIn(cursor_file);
  if (kept === undefined) return head;
  const { epoch: of, seq } = partsOf(kept);
  return of === epoch && seq <= head && head - seq <= TELEMETRY_BEHIND_MAX_RECORDS ? seq : head;
};

export class TelemetryThread implements TelemetryApi {
  private readonly ground: TelemetryGround;
  private readonly data: GivenData;
  private newest: TelemetryStanding;
  /** The kernel's number of the newest thread; undefined where the system has none. */
  private thread_id: number | undefined;

  constructor(ground: TelemetryGround, data: GivenData) {
    this.ground = ground;
    this.data = data;
    this.newest = {
      endpoint: endpointOf(data.settings),
      spans_sent: 0,
      spans_dropped: 0,
      spans_waiting: 0,
      failing: null,
    };
  }

  standing(): TelemetryStanding {
    return this.newest;
  }

  /** Runs for ever. Interruption lets the thread read what is written, and post once what waits. */
  readonly run: Effect.Effect<void> = Effect.suspend(() => {
    const tried = Effect.catch(Effect.scoped(this.withThread), (error) =>
      Effect.sync(() =>
        this.ground.log("warn", "the log cannot be read for telemetry", { cause: error.message }),
      ),
    );
    return Effect.forever(Effect.andThen(tried, Effect.sleep(TELEMETRY_REREAD_MS)));
  });

  /** Until the thread fails. */
  private readonly withThread: Effect.Effect<void, HoldfastError, Scope.Scope> = Effect.gen(
    { self: this },
    function* () {
      // Asked before the thread is loaded: what is recorded meanwhile is told, too.
      const { head } = yield* this.ground.runtime.status();
      const thread = yield* Effect.acquireRelease(
        Effect.sync(() => this.startThread(beginning(this.data, head))),
        (started) => this.end(started),
      );
      yield* Effect.forkScoped(Effect.forever(this.telling(thread)));
      const failure = yield* failureOf(thread);
      this.ground.defects.tell("the thread of telemetry", failure);
    },
  );

  private startThread(from: number): Worker {
    // The system may give the number of a thread that has ended to another one.
    this.thread_id = undefined;
    // The daemon's bound on new objects would win over the one below. Other threads keep it.
    setFlagsFromString(`${SEMI_SPACE_FLAG}0`);
    const thread = new Worker(PROGRAM, {
      workerData: { ...this.data, from } satisfies TelemetryThreadData,
      env: {},
      execArgv: [],
      resourceLimits: {
        maxOldGenerationSizeMb: TELEMETRY_HEAP_MAX_MIB,
        maxYoungGenerationSizeMb: TELEMETRY_NEW_MAX_MIB,
      },
    });
    thread.once("online", () => {
      for (const flag of process.execArgv) if (flag.startsWith(SEMI_SPACE_FLAG)) setFlagsFromString(flag);
    });
    thread.on("message", (message: FromTelemetry) => this.heard(thread, message));
    return thread;
  }

  private heard(thread: Worker, message: FromTelemetry): void {
    if (message.type === "thread") this.gaveWay(message.id);
    else if (message.type === "log") this.ground.log(...message.told);
    else if (message.type === "defect") this.ground.defects.tell(message.where, message.cause);
    else if (message.type === "unknown") void this.answer(thread, message.ids);
    else this.newest = message.standing;
  }

  private gaveWay(id: number): void {
    this.thread_id = id;
    runWhereIdle(id);
  }

  private async answer(thread: Worker, ids: readonly string[]): Promise<void> {
    send(thread, { type: "workers", found: await Effect.runPromise(this.lookUp(ids)) });
  }

  /** A worker that is on record no more has no spans. */
  private lookUp(ids: readonly string[]): Effect.Effect<readonly (readonly [string, TracedWorker])[]> {
    const found = Effect.forEach(ids, (id) =>
      Effect.map(
        Effect.option(this.ground.runtime.info(id)),
        Option.map(({ name, spec }) => [id, { name, spec }] as const),
      ),
    );
    return Effect.map(found, (all) => all.flatMap((one) => (Option.isSome(one) ? [one.value] : [])));
  }

  /** The follower has its place in the log before the thread is told, so that no record falls between two tellings. */
  private telling(thread: Worker): Effect.Effect<void> {
    const next = this.ground.runtime.follow({ follow: true, filter: TRACED }, () => "enough");
    return Effect.gen(function* () {
      const written = yield* Effect.forkChild(Effect.exit(next), { startImmediately: true });
      send(thread, { type: "written" });
      yield* Fiber.join(written);
      yield* Effect.sleep(TELEMETRY_LOOK_EVERY_MS);
    });
  }

  private end(thread: Worker): Effect.Effect<void> {
    return Effect.gen({ self: this }, function* () {
      const gone = ended(thread);
      // Everybody waits for its last post.
      if (this.thread_id !== undefined && thread.threadId >= 0) runAsOthers(this.thread_id);
      send(thread, { type: "end" });
      yield* Effect.timeoutOption(gone, TELEMETRY_THREAD_END_MAX_MS);
      yield* Effect.promise(() => thread.terminate());
    });
  }
}

const send = (thread: Worker, message: ToTelemetry): void => thread.postMessage(message);

/** A thread that ends without an error has failed, too. */
const failureOf = (thread: Worker): Effect.Effect<Error> =>
  Effect.callback((resume) => {
    thread.once("error", (cause: Error) => resume(Effect.succeed(cause)));
    thread.once("exit", () => resume(Effect.succeed(new Error("The thread of telemetry has ended."))));
  });

const ended = (thread: Worker): Effect.Effect<void> =>
  Effect.callback((resume) => {
    if (thread.threadId < 0) return resume(Effect.void);
    thread.once("exit", () => resume(Effect.void));
  });
