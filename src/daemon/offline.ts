/**
 * Work on the log's file beside a runtime or without one: for `agent db`, for the doctor, and for checks of
 * the daemon that need no runtime. The command loads this file only when it needs it, because it loads
 * SQLite.
 */
import { join } from "node:path";
import { Exporter } from "../protocol/run-events/export.ts";
import { ExportCheck } from "../protocol/run-events/export-check.ts";
import { refuseLostLog } from "../runtime/boot/lost-log.ts";
import type { GcOptions, GcReport } from "../store/gc-report.ts";
import { editedSentence } from "../store/sqlite/edited.ts";
import { openLog } from "../store/sqlite/log.ts";
import { checkFile, editedInFile, lookAtFile, unknownRuns } from "../store/sqlite/offline.ts";
import { makeOffload } from "../store/sqlite/offload.ts";
import { checkReadable as checkFileReadable } from "../store/sqlite/preflight.ts";
import { referencedDigests } from "../store/sqlite/references.ts";
import { exportHeartbeats, exportLines } from "../store/sqlite/retention/export.ts";
import { vacuumFile } from "../store/sqlite/vacuum.ts";
import type { CheckReport, Upkeep } from "../store/upkeep.ts";
import { acquireLock } from "./lock.ts";

const fileOf = (stateDir: string): string => join(stateDir, "holdfast.db");

/** Holds the lock, so that no daemon starts during the work. */
const lockedWhile = async <A>(stateDir: string, version: string, work: () => A | Promise<A>): Promise<A> => {
  const lock = acquireLock(stateDir, {
    pid: process.pid,
    version,
    socket: "",
    started_at: new Date().toISOString(),
  });
  try {
    return await work();
  } finally {
    lock.release();
  }
};

const underLock = <A>(
  stateDir: string,
  version: string,
  work: (upkeep: Upkeep) => A | Promise<A>,
): Promise<A> =>
  lockedWhile(stateDir, version, async () => {
    const log = openLog({ file: fileOf(stateDir), inspect: true });
    try {
      return await work(log);
    } finally {
      log.close();
    }
  });

/** Throws STORE_FAILED for a log of a newer version. Another daemon may still be writing the log. */
export const checkReadable = (stateDir: string): void => checkFileReadable(fileOf(stateDir));

/** Digests of the artifacts that records name. */
export const referenced = async (stateDir: string): Promise<ReadonlySet<string>> =>
  new Set(referencedDigests(fileOf(stateDir)));

/** The same in a thread, for a loop that must not block. */
export const referencedAside = (stateDir: string) => {
  const { run, close } = makeOffload();
  const referenced = async () => new Set(await run("references", { file: fileOf(stateDir) }));
  return { referenced, close };
};

export const check = (stateDir: string): CheckReport => checkFile(fileOf(stateDir));
/** A sentence about rows that do not follow from the log's records; undefined if there are none. */
export const edited = (stateDir: string): string | undefined => {
  const [first, ...others] = editedInFile(fileOf(stateDir));
  return first === undefined ? undefined : editedSentence(first, others.length);
};
/** Fails with the error that a daemon would give if it started now. */
export const look = async (stateDir: string) => {
  await refuseLostLog(fileOf(stateDir), join(stateDir, "runs"), unknownRuns);
  return lookAtFile(fileOf(stateDir));
};

export const rebuild = (stateDir: string, version: string) =>
  underLock(stateDir, version, (upkeep) => upkeep.rebuild());

export const gc = (stateDir: string, version: string, options: GcOptions) =>
  underLock(stateDir, version, (upkeep) => upkeep.gc(options));

/** The second step of a gc: frees unused pages. Returns the report of both steps. */
export const vacuum = (stateDir: string, version: string, report: GcReport): Promise<GcReport> =>
  lockedWhile(stateDir, version, () => {
    const freed = vacuumFile(fileOf(stateDir));
    return {
      ...report,
      freed_bytes: report.freed_bytes + freed,
      reusable_bytes: 0,
      needs_vacuum: false,
    };
  });

/** Works beside a daemon too: it only reads, one page at a time. */
export const exported = (stateDir: string, from: number, to: number): Generator<string> =>
  exportLines(fileOf(stateDir), join(stateDir, "archive"), from, to);

/**
 * The same as run and worker events. It exports whole streams, so it starts at the beginning. In test mode
 * each event is checked against the contract.
 */
export function* exportedEvents(
  stateDir: string,
  to: number,
  { isTest, heartbeats }: { readonly isTest: boolean; readonly heartbeats: boolean },
): Generator<string> {
  const exporter = new Exporter();
  const check = isTest ? new ExportCheck() : undefined;
  for (const line of exported(stateDir, 1, to))
    for (const event of exporter.take(JSON.parse(line))) yield JSON.stringify(check?.take(event) ?? event);
  if (!heartbeats) return;
  for (const beat of exportHeartbeats(fileOf(stateDir)))
    for (const event of exporter.beat(beat.worker_id, beat.incarnation, beat.at_ms))
      yield JSON.stringify(check?.take(event) ?? event);
}
