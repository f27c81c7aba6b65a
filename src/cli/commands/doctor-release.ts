/** agent doctor: whether the disk space of ingested output can be freed (processes.md, Bounds). */
import { rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { RELEASE_BLOCK_BYTES, RELEASE_MAX_MS } from "../../base/limits.ts";
import type { Context } from "../context.ts";
import type { Check } from "../reports.ts";
import { findProgram } from "./programs.ts";

/** Tries it in the directory of the spools. Before the first start it only looks for the program. */
export const spoolRelease = async ({ stateDir, env }: Pick<Context, "stateDir" | "env">): Promise<Check> => {
  const name = "spool release";
  const program = findProgram("fallocate", env);
  const problem =
    program === undefined
      ? "fallocate is not on PATH"
      : statSync(stateDir, { throwIfNoEntry: false })?.isDirectory() === true
        ? await tried(program, join(stateDir, `.doctor-${process.pid}`))
        : undefined;
  return problem === undefined
    ? { name, result: "ok", finding: "output that is in the log gives its disk space back" }
    : {
        name,
        result: "warn",
        finding: `${problem}: all output of an agent stays on the disk until its run is cleaned up`,
        fix: "Install util-linux, or put HOLDFAST_HOME on ext4, xfs, btrfs or tmpfs.",
      };
};

const tried = async (program: string, probe: string): Promise<string | undefined> => {
  // Loaded here, because it takes a tenth of a client's start.
  const { execFileSync } = await import("node:child_process");
  try {
    writeFileSync(probe, Buffer.alloc(RELEASE_BLOCK_BYTES, "x"), { mode: 0o600 });
    execFileSync(program, ["-p", "-o", "0", "-l", String(RELEASE_BLOCK_BYTES), probe], {
      stdio: "ignore",
      timeout: RELEASE_MAX_MS,
    });
    return undefined;
  } catch (cause) {
    // A full disk leaves this unknown; the disk check reports it.
    if ((cause as NodeJS.ErrnoException).code === "ENOSPC") return undefined;
    return "no hole can be punched there";
  } finally {
    rmSync(probe, { force: true });
  }
};
