/** The disk under what is in the log is given back while an agent runs, and nothing is lost by it (architecture §5, Bounds). */
import { execFileSync } from "node:child_process";
import { existsSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { releasedBelow } from "../../src/adapters/process/release.ts";
import { RELEASE_STEP_BYTES, SPOOL_KEPT_BYTES } from "../../src/protocol/limits.ts";
import { child, type Daemon, startDaemon, temporaryDirectory, until } from "./support.ts";

const LINES = 1_200;
/** A step that is not full, one that was not asked for because another was at work, and what is kept. */
const HELD_MAX_BYTES = 2 * RELEASE_STEP_BYTES + 2 * SPOOL_KEPT_BYTES;

const canPunch = (): boolean => {
  try {
    execFileSync("fallocate", ["--version"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
};

test.skipIf(!canPunch())(
  "of 70 MB that an agent prints little stays on the disk, whoever kills the daemon in between",
  {
    timeout: 240_000,
  },
  async () => {
    const stop = join(temporaryDirectory(), "stop");
    let daemon: Daemon = await startDaemon();
    const id = await daemon.spawn([child("prints-much.sh"), String(LINES), stop]);
    const spool = join(daemon.stateDir, "runs", id, "1", "stdout");
    await until("something is released", () => existsSync(`${spool}.released`));
    await daemon.kill9();
    const released = releasedBelow(spool);
    daemon = await startDaemon(daemon.stateDir);

    const numbers: number[] = [];
    const watching = await daemon.watchLines(
      { ids: [id], from: 0, types: ["agent.event"], kinds: ["TextOutput"] },
      (line) => {
        const number = /"text":"(\d+) x/.exec(line)?.[1];
        if (number !== undefined) numbers.push(Number(number));
      },
    );
    await until("all is in the log", () => numbers.length >= LINES);
    expect(numbers).toEqual(Array.from({ length: LINES }, (_, n) => n + 1));
    await until("the disk is given back", () => statSync(spool).blocks * 512 < HELD_MAX_BYTES);
    expect(statSync(spool).size).toBeGreaterThan(64 * 1024 * 1024);
    // The one that took the run over has gone on with it.
    expect(releasedBelow(spool)).toBeGreaterThan(released);

    const { stdout, stderr } = await daemon.agentSays("logs", id, "--raw", "-o", "text");
    expect(stdout).not.toContain("\0");
    expect(Buffer.byteLength(stdout)).toBe(statSync(spool).size - releasedBelow(spool));
    expect(stderr).toContain(`${releasedBelow(spool)} bytes of its stdout are not kept`);
    writeFileSync(stop, "");
    await daemon.wait([id]);
    watching.stop();
  },
);
