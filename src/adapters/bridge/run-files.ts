/**
 * The daemon's own files of a bridged run, in the run's own directory: that it was begun, its output up to the offset that the
 * bridge was told, and its end. So the same offset gives the same byte to the next daemon, and an end is an end, whatever the
 * bridge says later.
 */
import { closeSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import * as z from "zod";
import { APPEND, openRegular, readRegular, sizeOfRegular } from "../../base/files/regular-file.ts";
import { replaceFile } from "../../base/files/replace-file.ts";
import type { RunExit } from "../../protocol/incarnation.ts";
import type { ProcessIdentity } from "../../protocol/records.ts";
import type { SpoolName } from "../adapter.ts";
import { FILE_MODE, makeRunDirectory, runDirectory } from "../process/run-directory.ts";
import type { RunId } from "../spawner.ts";

const Identity = z.object({ pid: z.int(), start_time: z.string(), boot_id: z.string(), pid_ns: z.string() });
const Claim = z.object({ version: z.literal(1), instance: z.string(), host: Identity.nullable() });
const End = z.object({
  exit_code: z.int().nullable(),
  signal: z.string().nullable(),
  signal_inferred: z.boolean(),
  raw_status: z.int().nullable(),
  reason: z.enum(["exited", "signalled", "unknown"]),
});

/** The life of the bridge in which a run was begun. */
export interface RunClaim {
  readonly instance: string;
  readonly host: ProcessIdentity | undefined;
}

export class RunFiles {
  private readonly dir: string;

  constructor(runsDir: string, id: RunId) {
    this.dir = runDirectory(runsDir, id);
  }

  path(stream: SpoolName): string {
    return join(this.dir, stream);
  }

  size(stream: SpoolName): number {
    return sizeOfRegular(this.path(stream));
  }

  /** Before the bridge is asked. Fails with INVALID_STATE if the run was begun before. */
  claim({ instance, host }: RunClaim): void {
    makeRunDirectory(this.dir);
    replaceFile(this.claimPath(), JSON.stringify({ version: 1, instance, host: host ?? null }));
  }

  /** Undefined if the run was never begun. */
  claimed(): RunClaim | undefined {
    const found = parsed(Claim, readRegular(this.claimPath()));
    return found && { instance: found.instance, host: found.host ?? undefined };
  }

  /** The bridge has refused the run, so that it was never begun. */
  disclaim(): void {
    rmSync(this.dir, { recursive: true, force: true });
  }

  /** Throws the system's error; a part may have been written then. */
  append(stream: SpoolName, bytes: Uint8Array): void {
    const fd = openRegular(this.path(stream), APPEND, FILE_MODE);
    try {
      for (let at = 0; at < bytes.length; ) at += writeSync(fd, bytes, at);
    } finally {
      closeSync(fd);
    }
  }

  /** The first end counts. */
  end(exit: RunExit): RunExit {
    const before = this.ended();
    if (before === undefined) replaceFile(this.endPath(), JSON.stringify(exit));
    return before ?? exit;
  }

  ended(): RunExit | undefined {
    return parsed(End, readRegular(this.endPath()));
  }

  private claimPath(): string {
    return join(this.dir, "bridge.json");
  }

  private endPath(): string {
    return join(this.dir, "bridge-end.json");
  }
}

const parsed = <S extends z.ZodType>(schema: S, bytes: Buffer | undefined): z.output<S> | undefined => {
  if (bytes === undefined) return undefined;
  try {
    return schema.safeParse(JSON.parse(bytes.toString("utf8"))).data;
  } catch {
    return undefined;
  }
};
