/** The work that the `agent` command does to a state directory of which no daemon answers. Loaded when it is asked for: SQLite comes along. */
import { join } from "node:path";
import { refuseLostLog } from "../adapters/process/lost-log.ts";
import { Exporter } from "../protocol/run-events/export.ts";
import { ExportCheck } from "../protocol/run-events/judged.ts";
import { editedSentence } from "../store/edited.ts";
import type { GcOptions, GcReport } from "../store/gc-report.ts";
import { openLog } from "../store/log.ts";
import { checkFile, editedInFile, lookAtFile } from "../store/offline.ts";
import type { CheckReport, EventLog } from "../store/port.ts";
import { exportLines } from "../store/retention/export.ts";
import { vacuumFile } from "../store/vacuum.ts";
import { acquireLock } from "./lock.ts";

const fileOf = (stateDir: string): string => join(stateDir, "holdfast.db");

/** So that no daemon starts on half of the work. */
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
  work: (log: EventLog) => A | Promise<A>,
): Promise<A> =>
  lockedWhile(stateDir, version, async () => {
    const log = openLog({ file: fileOf(stateDir), inspect: true });
    try {
      return await work(log);
    } finally {
      log.close();
    }
  });

export const check = (stateDir: string): CheckReport => checkFile(fileOf(stateDir));
/** The fault of rows that the records of the log do not give, in one sentence. */
export const edited = (stateDir: string): string | undefined => {
  const [first, ...others] = editedInFile(fileOf(stateDir));
  return first === undefined ? undefined : editedSentence(first, others.length);
};
/** Fails as a daemon would that is started now. */
export const look = async (stateDir: string) => {
  await refuseLostLog(fileOf(stateDir), join(stateDir, "runs"));
  return lookAtFile(fileOf(stateDir));
};

export const rebuild = (stateDir: string, version: string) =>
  underLock(stateDir, version, (log) => log.rebuild());

export const gc = (stateDir: string, version: string, options: GcOptions) =>
  underLock(stateDir, version, (log) => log.gc(options));

/** The rest of a gc: the free pages. Answers what it has come to after both. */
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

/** Beside a daemon, too: it reads, a page at a time. */
export const exported = (stateDir: string, from: number, to: number): Generator<string> =>
  exportLines(fileOf(stateDir), join(stateDir, "archive"), from, to);

/** The same as run and worker events; whole streams, so from the beginning. In test mode each is held against the rules of the contract. */
export function* exportedEvents(stateDir: string, to: number, isTest: boolean): Generator<string> {
  const exporter = new Exporter();
  const check = isTest ? new ExportCheck() : undefined;
  for (const line of exported(stateDir, 1, to))
    for (const event of exporter.take(JSON.parse(line))) yield JSON.stringify(check?.take(event) ?? event);
}
