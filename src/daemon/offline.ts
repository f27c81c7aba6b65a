/** What the `agent` command does to a state directory of which no daemon answers. Loaded when it is asked for: SQLite comes along. */
import { join } from "node:path";
import { openLog } from "../store/log.ts";
import { checkFile, lookAtFile } from "../store/offline.ts";
import type { CheckReport } from "../store/port.ts";
import { acquireLock } from "./lock.ts";

const fileOf = (stateDir: string): string => join(stateDir, "holdfast.db");

export const check = (stateDir: string): CheckReport => checkFile(fileOf(stateDir));
export const look = (stateDir: string): number => lookAtFile(fileOf(stateDir));

/** Under the lock of the directory, so that no daemon starts on half of it. */
export const rebuild = (stateDir: string, version: string): { readonly records: number } => {
  const lock = acquireLock(stateDir, {
    pid: process.pid,
    version,
    socket: "",
    started_at: new Date().toISOString(),
  });
  try {
    const log = openLog({ file: fileOf(stateDir), inspect: true });
    try {
      return log.rebuild();
    } finally {
      log.close();
    }
  } finally {
    lock.release();
  }
};
