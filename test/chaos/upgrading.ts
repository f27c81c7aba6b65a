/** Another version takes over from the daemon of a test. */
import { execFile } from "node:child_process";
import { onTestFinished } from "vitest";
import { readDaemonFile } from "../../src/daemon/daemon-file.ts";
import { killIfThere } from "../support/kill-if-there.ts";
import { endMarked, environment, lives, until } from "./support.ts";

interface Upgraded {
  readonly exit: number;
  readonly data: { readonly gap_ms: number; readonly effect: string };
  readonly error: { readonly code: string; readonly message: string };
}

/** `agent daemon upgrade` by the command of another version. */
export const upgrade = (agent: string, stateDir: string): Promise<Upgraded> =>
  new Promise((done) => {
    const env = { ...environment(), HOLDFAST_HOME: stateDir };
    const child = execFile(
      process.execPath,
      [agent, "daemon", "upgrade", "-o", "json"],
      { env },
      (_, stdout) => done({ exit: child.exitCode ?? -1, ...JSON.parse(stdout) }),
    );
  });

/** The one that runs now is no child of this test. */
export const endedLater = (stateDir: string, storeId: string): void =>
  void onTestFinished(async () => {
    const pid = readDaemonFile(stateDir)?.pid ?? 0;
    if (lives(pid)) killIfThere(pid);
    await until("it is gone", () => !lives(pid));
    endMarked(storeId);
  });
