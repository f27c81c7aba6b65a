/** Parts that the tests of the store share: a log in a directory of its own, and short ways to write a draft. */
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { ErrorCode, HoldfastError } from "../../../src/protocol/errors.ts";
import {
  type RecordDraft,
  type RecordPayloads,
  type RecordType,
  workerStream,
} from "../../../src/protocol/records.ts";
import { WorkerSpec } from "../../../src/protocol/worker.ts";
import { openLog } from "../../../src/store/sqlite/log.ts";
import type { LogOptions } from "../../../src/store/sqlite/open-options.ts";
import type { Store } from "../../../src/store/upkeep.ts";

const SHM = "/dev/shm";

/** A path for a database in a new directory that is removed after the test; `fast` where a test opens hundreds. */
export const newFile = (fast = false): string => {
  const directory = mkdtempSync(join(fast && existsSync(SHM) ? SHM : tmpdir(), "holdfast-store-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return join(directory, "holdfast.db");
};

/** A log that is closed after the test. */
export const newLog = (options: Partial<LogOptions> = {}): Store => {
  const log = openLog({ file: newFile(), ...options });
  onTestFinished(() => log.close());
  return log;
};

export const W = "01JZ000000000000000000000A";
export const V = "01JZ000000000000000000000B";
export const clock = { boot_id: "boot", mono_ns: "1" };

export const draft = <T extends RecordType>(
  type: T,
  payload: RecordPayloads[T],
  rest: { worker?: string; incarnation?: number; id?: string } = {},
): RecordDraft => {
  const { worker = W, incarnation = 1, id } = rest;
  return {
    type,
    payload,
    stream: workerStream(worker),
    worker_id: worker,
    incarnation,
    ...(id && { id }),
  } as unknown as RecordDraft;
};

export const text = (
  words: string,
  worker = W,
  kind: "TextOutput" | "ToolCall" = "TextOutput",
): RecordDraft => draft("agent.event", { agent_kind: "command", kind, text: words }, { worker });

export const spec = (fields: Partial<WorkerSpec> = {}): WorkerSpec =>
  WorkerSpec.parse({ kind: "command", argv: ["true"], cwd: "/", restart: "temporary", ...fields });

export const requested = (worker = W, fields: Partial<WorkerSpec> = {}): RecordDraft =>
  draft("worker_spawn_requested", { spec: spec(fields), clock }, { worker });

/** The code of the HoldfastError that `run` fails with. */
export const codeOf = (run: () => unknown): ErrorCode | undefined => {
  try {
    run();
  } catch (error) {
    return (error as HoldfastError).code;
  }
  return undefined;
};
