/** A server with an agent `echo` whose workers end at once, on a clock of the test's own. */
import { randomBytes } from "node:crypto";
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { HoldfastError } from "../../../src/protocol/errors.ts";
import type { AcceptedProfile, AlgorithmName } from "../../../src/protocol/words.ts";
import { exchange } from "../../../src/weblisk/client/exchange.ts";
import { KeptKeys } from "../../../src/weblisk/identity/kept-keys.ts";
import { ensureIdentity, ORCHESTRATOR } from "../../../src/weblisk/identity/key-files.ts";
import type { AdminTerms } from "../../../src/weblisk/server/admin.ts";
import { ServerFiles } from "../../../src/weblisk/server/files.ts";
import { grant } from "../../../src/weblisk/server/grants.ts";
import { listen } from "../../../src/weblisk/server/listener.ts";
import type { TaskApproval, TaskOrder, TaskWorkers } from "../../../src/weblisk/server/ports.ts";
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
  readonly posts: readonly EventAtBox[];
  /** Defects that the server told. */
  readonly defects: readonly unknown[];
  /** Serves the operator, too. The base of its paths. */
  admin(terms: AdminTerms): Promise<string>;
  /** Leaves its state directory. */
  stop(): void;
  close(): void;
}

interface FakeDaemon {
  readonly orders: TaskOrder[];
  readonly now: () => number;
  readonly isReachable: () => boolean;
  readonly posts: EventAtBox[];
}

/** An event as a mailbox has it. */
export interface EventAtBox {
  readonly to: string | undefined;
  readonly event: object;
}

/** Workers that end at once. One whose prompt begins with `ask` waits for an approval first, and `wait` never ends. */
const endAtOnce = ({ orders, now, isReachable, posts }: FakeDaemon): TaskWorkers => {
  const begun: number[] = [];
  const states = new Map<string, TaskApproval["state"]>();
  const keys = new Set<string>();
  const asks = (id: string): boolean => orders[Number(id)]?.prompt.startsWith("ask") === true;
  const worker = (id: string) => ({ id, labels: orders[Number(id)]!.labels });
  const approvalOf = (of: string): TaskApproval => ({
    // A ULID, whose first digits are the number of the worker.
    id: of.padStart(6, "0").padEnd(26, "0"),
    worker: worker(of),
    state: states.get(of) ?? "open",
    tool: "Bash",
    title: "runs a command",
    input: '{"command":"ls"}',
    asked_ms: begun[Number(of)] as number,
  });
  const asking = (): readonly TaskApproval[] => [...orders.keys()].map(String).filter(asks).map(approvalOf);
  const isOpen = ({ state }: TaskApproval): boolean => state === "open";
  return {
    find: async ({ weblisk_task }) =>
      orders.flatMap(({ labels }, at) =>
        labels.weblisk_task === weblisk_task ? [{ id: String(at), labels }] : [],
      ),
    running: async ({ weblisk_agent, weblisk_from }) =>
      orders.flatMap(({ labels, prompt }, at) =>
        weblisk_from !== undefined &&
        prompt === "wait" &&
        labels.weblisk_agent === weblisk_agent &&
        labels.weblisk_from === weblisk_from
          ? [worker(String(at))]
          : [],
      ),
    spawn: async (order) => {
      begun.push(now());
      return String(orders.push(order) - 1);
    },
    end: async (id) => {
      if (orders[Number(id)]?.prompt === "wait" || (asks(id) && !states.has(id))) return undefined;
      const begun_ms = begun[Number(id)] as number;
      return {
        isSuccess: true,
        text: states.get(id) ?? orders[Number(id)]?.prompt ?? "",
        isCut: false,
        attempts: 1,
        changes: orders[Number(id)]?.prompt === "edit" ? [{ path: "a.txt", action: "modify" }] : [],
        measurements: { tool_calls: 2 },
        begun_ms,
        ended_ms: begun_ms + 5,
      };
    },
    approvals: async (of) => asking().filter((one) => isOpen(one) && (of ?? one.worker.id) === one.worker.id),
    approval: async (id) => asking().find((one) => one.id === id),
    decide: async (id, decision) => {
      const found = asking().find((one) => one.id === id);
      if (found === undefined || !isOpen(found))
        throw new HoldfastError("INVALID_STATE", "The request is over.");
      states.set(found.worker.id, decision === "allow" ? "allowed" : "denied");
    },
    post: async (to, event, key) => {
      if (!keys.has(key)) posts.push({ to, event });
      keys.add(key);
    },
    trail: async (after, limit) => {
      const entries = TRAIL.slice(after, after + limit);
      return { entries, next: after + entries.length, is_end: after + limit >= TRAIL.length };
    },
    kill: async () => undefined,
    isReachable: async () => isReachable(),
  };
};

const TRAIL = ["meet", "admit", "settle"].map((action, at) => ({
  seq: at + 1,
  id: String(at).repeat(32),
  timestamp: 100 + at,
  actor: "hub",
  action,
  target: "peer",
  detail: {},
  status: "ok",
  previous_hash: "0".repeat(64),
}));

/** `stateDir`: of a server before this one. */
export const makeServed = async (
  algorithm: AlgorithmName = "Ed25519",
  stateDir = mkdtempSync(join(tmpdir(), "holdfast-weblisk-")),
  signing?: AcceptedProfile,
): Promise<Served> => {
  for (const name of [ORCHESTRATOR, "echo"]) ensureIdentity(stateDir, name, algorithm);
  const orders: TaskOrder[] = [];
  const posts: EventAtBox[] = [];
  const defects: unknown[] = [];
  let now = Math.floor(Date.now() / 1_000) * 1_000;
  let isThere = true;
  let base = "";
  const server = new WebliskServer({
    stateDir,
    keys: new KeptKeys(stateDir),
    version: "1.2.3",
    url: () => base,
    agents: [{ name: "echo", description: "It echoes.", capabilities: ["llm:chat"], max_concurrent: 4 }],
    roots: [realpathSync(stateDir)],
    ...(signing !== undefined && { signing }),
    workers: endAtOnce({ orders, posts, now: () => now, isReachable: () => isThere }),
    exchange,
    now: () => now,
    pause: (ms, signal) => sleep(ms, undefined, { signal }),
    randomBytes,
    tell: (defect) => defects.push(defect),
  });
  const { address, close: closeServer } = await listen(server, { host: "127.0.0.1", port: 0 });
  const closing = [closeServer];
  const close = () => {
    for (const one of closing) one();
  };
  base = `http://127.0.0.1:${address.port}`;
  return {
    admin: async (terms) => {
      const opened = await listen(server.admin(terms), { host: "127.0.0.1", port: 0 });
      closing.push(() => opened.close());
      return `http://127.0.0.1:${opened.address.port}`;
    },
    base,
    stateDir,
    orders,
    posts,
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
