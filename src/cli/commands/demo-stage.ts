/** The stage of the demo: its own daemon and state directory, its records as they arrive, and its clean end. */
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Client, makeClient } from "../../daemon/client.ts";
import { connectDaemon } from "../../daemon/connect.ts";
import { isAlive } from "../../daemon/daemon-file.ts";
import { HoldfastError } from "../../protocol/errors.ts";
import type { LogRecord } from "../../protocol/records.ts";
import type { Context } from "../context.ts";
import { DAEMON_PROGRAM } from "../package.ts";

/** No step takes longer, even on a slow machine; all of them together take less than 15 s on a quiet one. */
const STEP_MAX_MS = 10_000;
const EXIT_WAIT_MS = 5_000;
const POLL_MS = 20;

export interface DemoContext {
  readonly stateDir: string;
  readonly records: readonly LogRecord[];
  /** The current daemon; `killDaemon` replaces it. */
  client(): Client;
  killDaemon(): Promise<void>;
  /** The first record that passes the test: an earlier one, or one within STEP_MAX_MS. */
  seen(what: string, test: (record: LogRecord) => boolean): Promise<LogRecord>;
  /** Processes of this user that still carry the marker of this state directory. Empty if there is no /proc. */
  marked(): Promise<readonly number[]>;
}

export const openStage = async (context: Context): Promise<DemoContext> => {
  const stage = new DemoStage(context, await mkdtemp(join(tmpdir(), "holdfast-demo-")));
  context.cleanups.push(() => stage.close());
  await stage.enter();
  return stage;
};

class DemoStage implements DemoContext {
  readonly stateDir: string;
  readonly records: LogRecord[] = [];
  private readonly context: Context;
  private closed = false;
  private connecting: Promise<Client> | undefined;
  private current!: Client;
  private daemon!: { readonly pid: number; readonly store_id: string };

  constructor(context: Context, stateDir: string) {
    this.context = context;
    this.stateDir = stateDir;
  }

  async enter(): Promise<void> {
    if (this.closed) throw new HoldfastError("CANCELLED", "The demo is being stopped.");
    this.connecting = this.connect();
    this.current = await this.connecting;
    this.daemon = await this.current.request("daemon/status", {});
    this.follow();
  }

  /** The demo may be stopped while its daemon starts or is down. A daemon stops the agents in any case, so that none is left. */
  async close(): Promise<void> {
    this.closed = true;
    await this.connecting?.then((client) => client.close()).catch(() => {});
    try {
      const client = await this.connect();
      const { pid } = await client.request("daemon/status", {});
      await client.request("daemon/stop", { agents: "kill" });
      client.close();
      await gone(pid);
    } finally {
      await rm(this.stateDir, { recursive: true, force: true, maxRetries: 3 });
    }
  }

  client(): Client {
    return this.current;
  }

  async killDaemon(): Promise<void> {
    process.kill(this.daemon.pid, "SIGKILL");
    await gone(this.daemon.pid);
    this.current.close();
    await this.enter();
  }

  async seen(what: string, test: (record: LogRecord) => boolean): Promise<LogRecord> {
    const deadline = performance.now() + STEP_MAX_MS;
    for (;;) {
      const found = this.records.find(test);
      if (found) return found;
      if (performance.now() > deadline) {
        const suggestion = "Run agent doctor, and please report this.";
        const waited = `The demo waited ${STEP_MAX_MS / 1000} s for ${what}, but it did not happen.`;
        throw new HoldfastError("TIMEOUT", waited, { suggestion });
      }
      await sleep(POLL_MS);
    }
  }

  marked(): Promise<readonly number[]> {
    return markedProcesses(this.daemon.store_id);
  }

  private async connect(): Promise<Client> {
    const env = { ...this.context.env, HOLDFAST_HOME: undefined };
    return makeClient(await connectDaemon({ stateDir: this.stateDir, env, bundle: DAEMON_PROGRAM }));
  }

  private follow(): void {
    this.current
      .watch({ from: this.records.at(-1)?.seq ?? 0, follow: true }, (record) => {
        this.records.push(record);
        return this.context.record(record);
      })
      // The stream breaks with the daemon; the next daemon continues it from the same cursor.
      .catch(() => {});
  }
}

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
