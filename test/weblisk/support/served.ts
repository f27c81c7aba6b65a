/** A server with an agent `echo` whose workers end at once, on a clock of the test's own. */
import { randomBytes } from "node:crypto";
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { AlgorithmName } from "../../../src/protocol/words.ts";
import { ensureIdentity, ORCHESTRATOR } from "../../../src/weblisk/identity/key-files.ts";
import { ServerFiles } from "../../../src/weblisk/server/files.ts";
import { grant } from "../../../src/weblisk/server/grants.ts";
import { listen } from "../../../src/weblisk/server/listener.ts";
import type { TaskOrder, TaskWorkers } from "../../../src/weblisk/server/ports.ts";
import { WebliskServer } from "../../../src/weblisk/server/server.ts";

export interface Served {
  readonly base: string;
  readonly stateDir: string;
  /** Its clock, in epoch seconds: it stands still. */
  seconds(): number;
  /** Moves the clock, in seconds. */
  pass(seconds: number): void;
  /** Default: what the served agent needs. */
  grant(name: string, ...capabilities: readonly string[]): void;
  /** Lets the daemon go away, or come back. */
  daemon(isThere: boolean): void;
  readonly orders: readonly TaskOrder[];
  /** Defects that the server told. */
  readonly defects: readonly unknown[];
  /** Leaves its state directory. */
  stop(): void;
  close(): void;
}

const endAtOnce = (orders: TaskOrder[], now: () => number, isReachable: () => boolean): TaskWorkers => {
  const begun: number[] = [];
  return {
    find: async ({ weblisk_task }) =>
      orders.flatMap(({ labels }, at) =>
        labels.weblisk_task === weblisk_task ? [{ id: String(at), labels }] : [],
      ),
    living: async () => 0,
    spawn: async (order) => {
      begun.push(now());
      return String(orders.push(order) - 1);
    },
    end: async (id) => ({
      isSuccess: true,
      text: orders[Number(id)]?.prompt ?? "",
      isCut: false,
      attempts: 1,
      begun_ms: begun[Number(id)] as number,
      ended_ms: (begun[Number(id)] as number) + 5,
    }),
    kill: async () => undefined,
    isReachable: async () => isReachable(),
  };
};

/** `stateDir`: of a server before this one. */
export const makeServed = async (
  algorithm: AlgorithmName = "Ed25519",
  stateDir = mkdtempSync(join(tmpdir(), "holdfast-weblisk-")),
): Promise<Served> => {
  for (const name of [ORCHESTRATOR, "echo"]) ensureIdentity(stateDir, name, algorithm);
  const orders: TaskOrder[] = [];
  const defects: unknown[] = [];
  let now = Math.floor(Date.now() / 1_000) * 1_000;
  let isThere = true;
  let base = "";
  const server = new WebliskServer({
    stateDir,
    version: "1.2.3",
    url: () => base,
    agents: [{ name: "echo", description: "It echoes.", capabilities: ["llm:chat"], max_concurrent: 4 }],
    roots: [realpathSync(stateDir)],
    workers: endAtOnce(
      orders,
      () => now,
      () => isThere,
    ),
    now: () => now,
    randomBytes,
    tell: (defect) => defects.push(defect),
  });
  const { address, close } = await listen(server, { host: "127.0.0.1", port: 0 });
  base = `http://127.0.0.1:${address.port}`;
  return {
    base,
    stateDir,
    orders,
    defects,
    daemon: (is) => {
      isThere = is;
    },
    seconds: () => now / 1_000,
    pass: (seconds) => {
      now += seconds * 1_000;
    },
    grant: (name, ...capabilities) =>
      void grant(new ServerFiles(stateDir), name, capabilities.length === 0 ? ["llm:chat"] : capabilities),
    stop: close,
    close: () => {
      close();
      rmSync(stateDir, { recursive: true, force: true });
    },
  };
};
