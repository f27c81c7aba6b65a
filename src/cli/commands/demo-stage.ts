/** The stage of the demo: a daemon and a state directory of its own, its records as they come, and its orderly end. */
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { connectDaemon } from "../../daemon/connect.ts";
import { isAlive } from "../../daemon/daemon-file.ts";
import { HoldfastError } from "../../protocol/errors.ts";
import type { LogRecord } from "../../protocol/records.ts";
import { type Client, makeClient } from "../client.ts";
import type { Context } from "../context.ts";
import { DAEMON_PROGRAM } from "../package.ts";

/** No step takes longer, on a slow machine too; cli.md allows 15 s for all. */
const STEP_MAX_MS = 10_000;
const EXIT_WAIT_MS = 5_000;
const POLL_MS = 20;

export interface Stage {
  readonly stateDir: string;
  readonly records: readonly LogRecord[];
  /** The pid of the daemon that runs now; another one after `killDaemon`. */
  client(): Client;
  killDaemon(): Promise<void>;
  /** The first record that passes the test, now or within STEP_MAX_MS. */
  seen(what: string, test: (record: LogRecord) => boolean): Promise<LogRecord>;
  /** Processes of this user that still carry the marker of this state directory. None where there is no /proc. */
  marked(): Promise<readonly number[]>;
}

export const openStage = async (context: Context): Promise<Stage> => {
  const stateDir = await mkdtemp(join(tmpdir(), "holdfast-demo-"));
  const env = { ...context.env, HOLDFAST_HOME: undefined };
  const records: LogRecord[] = [];
  let closed = false;
  let connecting: Promise<Client> | undefined;
  let current: Client;
  let daemon: { readonly pid: number; readonly store_id: string };

  const connect = async (): Promise<Client> =>
    makeClient(await connectDaemon({ stateDir, env, bundle: DAEMON_PROGRAM }));

  const follow = (): void => {
    current
      .watch({ from: records.at(-1)?.seq ?? 0, follow: true }, (record) => {
        records.push(record);
        return context.record(record);
      })
      // The stream breaks with the daemon; the next one is asked from the same cursor.
      .catch(() => {});
  };

  const enter = async (): Promise<void> => {
    if (closed) throw new HoldfastError("CANCELLED", "The demo is being stopped.");
    connecting = connect();
    current = await connecting;
    daemon = await current.request("daemon/status", {});
    follow();
  };

  /** The demo may be stopped while its daemon starts or is down: a daemon is asked in any case, so that no agent is left. */
  const close = async (): Promise<void> => {
    closed = true;
    await connecting?.then((client) => client.close()).catch(() => {});
    try {
      const client = await connect();
      const { pid } = await client.request("daemon/status", {});
      await client.request("daemon/stop", { agents: "kill" });
      client.close();
      await gone(pid);
    } finally {
      await rm(stateDir, { recursive: true, force: true, maxRetries: 3 });
    }
  };

  context.cleanups.push(close);
  await enter();
  return {
    stateDir,
    records,
    client: () => current,
    async killDaemon() {
      process.kill(daemon.pid, "SIGKILL");
      await gone(daemon.pid);
      current.close();
      await enter();
    },
    async seen(what, test) {
      const deadline = performance.now() + STEP_MAX_MS;
      for (;;) {
        const found = records.find(test);
        if (found) return found;
        if (performance.now() > deadline) {
          const suggestion = "Run agent doctor, and please report this.";
          throw new HoldfastError(
            "TIMEOUT",
            `The demo waited ${STEP_MAX_MS / 1000} s for ${what}, in vain.`,
            { suggestion },
          );
        }
        await sleep(POLL_MS);
      }
    },
    marked: () => markedProcesses(daemon.store_id),
  };
};

const gone = async (pid: number): Promise<void> => {
  const deadline = performance.now() + EXIT_WAIT_MS;
  while (isAlive(pid) && performance.now() < deadline) await sleep(POLL_MS);
};

const markedProcesses = async (storeId: string): Promise<readonly number[]> => {
  const pids = (await readdir("/proc").catch(() => [])).filter((name) => /^\d+$/.test(name));
  const carries = await Promise.all(
    pids.map((pid) =>
      readFile(`/proc/${pid}/environ`, "latin1").then(
        (text) => text.includes(`HOLDFAST_RUN=${storeId}/`),
        () => false,
      ),
    ),
  );
  return pids.filter((_, index) => carries[index]).map(Number);
};
