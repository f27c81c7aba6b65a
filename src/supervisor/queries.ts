/** What is only asked: answered from the projections, the log and the spools. */
import { open } from "node:fs/promises";
import { join } from "node:path";
import { Effect, Stream } from "effect";
import type { AgentAdapter } from "../adapters/adapter.ts";
import { HoldfastError } from "../protocol/errors.ts";
import type { LogRecord } from "../protocol/records.ts";
import { isEnded } from "../protocol/worker.ts";
import type { WorkerRow } from "../store/port.ts";
import { attempt, attemptAsync } from "./attempt.ts";
import type { Core } from "./core.ts";
import type { RuntimeApi } from "./facade.ts";
import type { Forest } from "./forest.ts";
import { finalText } from "./output.ts";
import type { WorkerView } from "./replies.ts";
import { queueReason } from "./seats.ts";
import { supervisorWindow, treeOf, viewOf, windowOf } from "./views.ts";
import { followLines, tailOf } from "./watch.ts";
import { namesBelow, whySupervisor, whyWorker } from "./why.ts";

export interface QueryOptions {
  readonly version: string;
  readonly state_dir: string;
  readonly adapters: readonly AgentAdapter[];
}

export type Queries = Pick<
  RuntimeApi,
  | "resolve"
  | "list"
  | "info"
  | "tree"
  | "why"
  | "watchLines"
  | "watch"
  | "output"
  | "raw"
  | "capabilities"
  | "status"
  | "check"
  | "rebuild"
>;

/** `isOver`: the runtime has ended, and readers of the live tail have nothing to wait for. */
export const makeQueries = (
  core: Core,
  forest: Pick<Forest, "trees" | "treeOf">,
  options: QueryOptions,
  isOver: () => boolean,
): Queries => {
  const { find, monoMs, wallMs } = core;
  const { log, spawner } = core.services;
  const { live } = core.roster;
  const startedAt = new Date(wallMs()).toISOString();

  /** A worker of a file counts in the window of its supervisor. */
  const windowNow = (row: WorkerRow) => {
    const above = forest.treeOf(row.supervisor)?.state().supervisors.get(row.supervisor);
    return above === undefined ? ofItsOwn(row) : supervisorWindow(above, monoMs());
  };
  const ofItsOwn = (row: WorkerRow) => windowOf(row, live.get(row.id)?.child().restarts ?? [], monoMs());
  /** With what is not in its records: its place in the queue as it is now, and the question that it stands at. */
  const shown = (row: WorkerRow): WorkerView => {
    const view = viewOf(row);
    if (isEnded(row.state)) return view;
    const queue = core.admission.placeOf(row.id);
    const ladder = live.get(row.id)?.child().ladder;
    return {
      ...view,
      ...(queue === undefined ? {} : { reason: queueReason(queue), queue }),
      ...(ladder?.stage !== "asked"
        ? {}
        : { question: { question_id: ladder.question_id, about: "stall" as const } }),
    };
  };
  const reasonOf = ({ id, reason }: WorkerRow): string => {
    const queue = core.admission.placeOf(id);
    return queue === undefined ? reason : queueReason(queue);
  };
  const runDir = (row: WorkerRow) =>
    row.incarnation === 0 ? null : join(spawner.workerDir(row.id), String(row.incarnation));

  const watchLines: RuntimeApi["watchLines"] = (query) =>
    Stream.unwrap(
      Effect.gen(function* () {
        const ids =
          query.ids === undefined
            ? undefined
            : yield* Effect.forEach(query.ids, (ref) => Effect.map(find(ref), (row) => row.id));
        return yield* attempt(() => {
          const since =
            query.from ??
            (query.since_ms === undefined ? undefined : log.seqAt(wallMs() - query.since_ms) - 1);
          const filter = { ...query.filter, ...(ids === undefined ? {} : { worker_ids: ids }) };
          const from =
            query.tail === undefined ? (since ?? log.head()) : tailOf(log, filter, since ?? 0, query.tail);
          const haveEnded = () => (ids ?? []).every((id) => isEnded((log.worker(id) as WorkerRow).state));
          return followLines(log, {
            from,
            filter,
            until: query.until,
            isOver: () => !query.follow && haveEnded(),
            isCut: isOver,
          });
        });
      }),
    );

  return {
    resolve: (ref) => Effect.map(find(ref), (row) => row.id),
    list: (how = {}) =>
      attempt(() =>
        log
          .workers()
          .filter((row) => how.all === true || !isEnded(row.state))
          .map(shown),
      ),
    info: (ref) =>
      Effect.flatMap(find(ref), (row) =>
        attempt(() => ({
          ...shown(row),
          spec: row.spec,
          completion: row.completion,
          turn_list: log.turns(row.id),
          run_dir: runDir(row),
          last_seq: row.last_seq,
          last_event_at: row.last_event_at,
          window: windowNow(row),
        })),
      ),
    tree: () =>
      attempt(() =>
        treeOf(
          log
            .workers()
            .filter((row) => !isEnded(row.state) || live.has(row.parent ?? "") || row.supervisor !== "root")
            .map((row) => ({ ...row, reason: reasonOf(row) })),
          forest.trees().map((tree) => tree.state()),
          windowNow,
          monoMs(),
        ),
      ),
    why: (ref) =>
      Effect.gen(function* () {
        const found = forest.treeOf(ref)?.state();
        const state = found?.supervisors.get(ref);
        if (found !== undefined && state !== undefined) {
          const decisions = yield* attempt(() => whySupervisor(log, found, ref));
          return {
            id: ref,
            name: ref,
            type: "supervisor",
            state: state.phase,
            reason: state.reason,
            ...decisions,
            names: namesBelow(state),
          };
        }
        const row = yield* find(ref);
        const tree = forest.treeOf(row.supervisor)?.state();
        const decisions = yield* attempt(() => whyWorker(log, row.id, row.supervisor, tree));
        return {
          id: row.id,
          name: row.name,
          type: "worker",
          state: row.state,
          reason: reasonOf(row),
          ...decisions,
          names: row.name === null ? {} : { [row.id]: row.name },
        };
      }),
    watchLines,
    watch: (query) =>
      Stream.flattenIterable(
        Stream.map(watchLines(query), (page) => page.lines.map((line) => JSON.parse(line) as LogRecord)),
      ),
    output: (ref) =>
      Effect.gen(function* () {
        const { id } = yield* find(ref);
        const found = yield* attempt(() => finalText(log, id));
        if (found !== undefined) return { id, ...found };
        return yield* Effect.fail(
          new HoldfastError(
            "OUTPUT_NOT_FOUND",
            `Worker ${id} has said nothing${live.has(id) ? " yet" : ""}.`,
          ),
        );
      }),
    raw: (ref, stream, offset, maxBytes) =>
      Effect.gen(function* () {
        const row = yield* find(ref);
        const dir = runDir(row);
        // Asked before reading: what is written after the answer is not missed by who reads until the end.
        const ended = !live.has(row.id);
        const notKept = (why: string) =>
          Effect.fail(new HoldfastError("OUTPUT_NOT_FOUND", `The raw ${stream} of worker ${row.id} ${why}.`));
        if (dir === null) return yield* notKept("is not there: it was never started");
        const slice = yield* Effect.catch(
          attemptAsync(() => readSlice(join(dir, stream), offset, maxBytes)),
          () => notKept("is not kept (any more)"),
        );
        return { ...slice, ended };
      }),
    capabilities: (kind) =>
      Effect.map(
        kind === undefined
          ? Effect.succeed(options.adapters)
          : Effect.map(core.adapterOf(kind), (one) => [one]),
        (found) =>
          found.map((one) => ({
            kind: one.kind,
            aliases: one.aliases,
            summary: one.summary,
            capabilities: one.capabilities,
            binary: one.binary?.name ?? null,
          })),
      ),
    status: () =>
      attempt(() => ({
        version: options.version,
        pid: process.pid,
        node: process.version,
        store_id: log.store_id,
        state_dir: options.state_dir,
        started_at: startedAt,
        head: log.head(),
        workers: { live: live.size, total: log.workers().length, polled: spawner.polled() },
        rss_bytes: process.memoryUsage.rss(),
        heap_bytes: process.memoryUsage().heapUsed,
      })),
    check: () => attempt(() => log.check()),
    rebuild: () => attempt(() => log.rebuild()),
  };
};

const readSlice = async (
  path: string,
  offset: number,
  maxBytes: number,
): Promise<{ base64: string; next: number }> => {
  const file = await open(path, "r");
  try {
    const { size } = await file.stat();
    const buffer = Buffer.alloc(Math.max(0, Math.min(maxBytes, size - offset)));
    const { bytesRead } = await file.read(buffer, 0, buffer.length, offset);
    return { base64: buffer.subarray(0, bytesRead).toString("base64"), next: offset + bytesRead };
  } finally {
    await file.close();
  }
};
