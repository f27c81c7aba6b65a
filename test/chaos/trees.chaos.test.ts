/** Trees of real processes under the daemon that is shipped: stopped in order, escalated to the root, adopted by the next one. */
import { expect, test } from "vitest";
import type { TreeSpecInput } from "../../src/protocol/tree.ts";
import type { TreeNode } from "../../src/runtime/replies.ts";
import { figure } from "../support/figures.ts";
import {
  child,
  type Daemon,
  environment,
  makeCanary,
  makeLedger,
  startDaemon,
  temporaryDirectory,
  until,
} from "./support.ts";

type Node = TreeSpecInput["root"];
type Child = Node["children"][number];

/** It is there before the next one starts. */
const up = { ready: { log: "^up" } };

const defaults = {
  cwd: "/",
  client_env: environment(),
  timeout_ms: 0,
  stall_ms: 0,
  backoff_min_ms: 0,
  backoff_max_ms: 0,
};
const worker = (name: string, argv: readonly string[], over: object = {}): Child =>
  ({
    type: "worker",
    name,
    spec: { kind: "command", argv: [...argv], restart: "permanent", ...defaults, ...over },
  }) as Child;
const supervisor = (name: string, config: object, ...children: Child[]): Node =>
  ({
    type: "supervisor",
    name,
    config: { backoff_min_ms: 0, backoff_max_ms: 0, ...config },
    depends_on: [],
    children,
  }) as never;

const apply = (daemon: Daemon, root: Node) =>
  daemon.request("tree/apply", { tree: { name: root.name, file: `/${root.name}.yaml`, root } });

const find = (node: TreeNode, id: string): TreeNode | undefined =>
  node.id === id ? node : node.children.map((one) => find(one, id)).find((one) => one !== undefined);
const phaseOf = async (daemon: Daemon, id: string) => {
  const node = find(await daemon.request<TreeNode>("agent/tree", {}), id);
  return node?.type === "supervisor" ? node.phase : undefined;
};
const running = (daemon: Daemon, id: string) =>
  until(`${id} runs`, async () => (await phaseOf(daemon, id)) === "running");

/** Says in the ledger when it starts and when it is told to stop. */
const tells = (ledger: string, name: string): readonly string[] => [
  "sh",
  "-c",
  `trap 'echo "stop ${name}" >>"${ledger}"; exit 0' TERM; echo "start ${name}" >>"${ledger}"; echo up; while :; do sleep 0.05; done`,
];

test("five children start left to right and stop right to left, one of them only by KILL after its grace (R6)", async () => {
  const daemon = await startDaemon();
  const ledger = makeLedger(temporaryDirectory());
  const children = ["a", "b", "c", "d"].map((name) => worker(name, tells(ledger.path, name), up));
  const stubborn = worker("stubborn", [child("ignores-term.sh")], { grace_ms: 200, ready: { log: "ready" } });
  await apply(daemon, supervisor("shop", {}, ...children.slice(0, 2), stubborn, ...children.slice(2)));
  await running(daemon, "shop");
  await until("all have started", () => ledger.all().length === 4);
  expect(ledger.all().map((line) => line.join(" "))).toEqual(["start a", "start b", "start c", "start d"]);
  await daemon.request("tree/down", { name: "shop" });
  expect(
    ledger
      .all()
      .slice(4)
      .map((line) => line.join(" ")),
  ).toEqual(["stop d", "stop c", "stop b", "stop a"]);
  const exits = await daemon.history(["worker_exited"]);
  expect(exits.map(({ payload }) => payload.signal)).toEqual([null, null, "SIGKILL", null, null]);
  figure("R6", {
    rounds: exits.length,
    failures: 0,
    note: "children stopped in the reverse of their start order, one by KILL",
  });
});

test("a leaf that crashes again and again takes three levels down to the root, and nothing keeps running (R5)", async () => {
  const daemon = await startDaemon();
  const dir = temporaryDirectory();
  const canary = makeCanary(dir);
  const ledger = makeLedger(dir);
  const bystander = worker("bystander", [child("keeps-ledger.sh"), ledger.path, canary.path]);
  const leaf = worker("leaf", ["sh", "-c", "exit 3"]);
  const other = await daemon.spawn(["sleep", "1000"]);
  await apply(
    daemon,
    supervisor(
      "shop",
      { max_restarts: 1 },
      bystander,
      supervisor("crew", { max_restarts: 1 }, supervisor("team", { max_restarts: 1 }, leaf)),
    ),
  );
  await until("the top has given up", async () => (await phaseOf(daemon, "shop")) === "terminated");
  expect(canary.isHeld()).toBe(false);
  // Two lives of every level below the top: 2 × 2 × 2 incarnations of the leaf.
  const exits = (await daemon.history(["worker_exited"], ["crew/team/leaf"])).length;
  expect(exits).toBe(8);
  const gaveUp = await daemon.history(["supervisor_escalated"]);
  expect(gaveUp.map(({ payload }) => payload.supervisor)).toEqual([
    ...["crew/team", "crew/team", "crew", "crew/team", "crew/team", "crew", "shop"],
  ]);
  // The daemon's root never ends, and who is not of the tree goes on.
  expect((await daemon.info(other)).state).toBe("running");
  figure("R5", { rounds: gaveUp.length, failures: 0, note: "supervisors that gave up, on three levels" });
});

test("the daemon dies in the middle of a restart of the group: the next one carries it through, in order and counted (R4)", async () => {
  const first = await startDaemon();
  const ledger = makeLedger(temporaryDirectory());
  const slow = worker("slow", [child("ignores-term.sh")], { grace_ms: 1_500, ready: { log: "ready" } });
  await apply(
    first,
    supervisor(
      "shop",
      { strategy: "one_for_all" },
      worker("a", tells(ledger.path, "a"), up),
      worker("b", tells(ledger.path, "b"), up),
      slow,
    ),
  );
  await running(first, "shop");
  const { pid } = await first.info("b");
  process.kill(pid as number, "SIGKILL");
  await until("the others are being stopped", async () => (await phaseOf(first, "shop")) === "restarting");
  await first.kill9();
  const next = await startDaemon(first.stateDir);
  await running(next, "shop");
  await until("a and b run again", () => ledger.all().length === 5);
  expect(ledger.all().map((line) => line.join(" "))).toEqual([
    "start a",
    "start b",
    "stop a",
    "start a",
    "start b",
  ]);
  expect(find(await next.request<TreeNode>("agent/tree", {}), "shop")?.window).toMatchObject({
    used: 1,
    max: 3,
  });
  const starts = await next.history(["worker_exited"]);
  expect(starts.length).toBe(3);
});

test("a killed subtree stays dead: against its parent's restarts, the next daemon, and its file applied again (R32)", async () => {
  const first = await startDaemon();
  const ledger = makeLedger(temporaryDirectory());
  const root = supervisor(
    "shop",
    { strategy: "one_for_all", max_restarts: 10 },
    worker("a", tells(ledger.path, "a"), up),
    supervisor("crew", {}, worker("b", tells(ledger.path, "b"), up)),
  );
  await apply(first, root);
  await running(first, "shop");
  await first.request("agent/kill", { ids: ["crew"] });
  const restarted = async (daemon: Daemon, incarnation: number) => {
    process.kill((await daemon.info("a")).pid as number, "SIGKILL");
    await until("a runs again", async () => {
      const { state, incarnation: now } = await daemon.info("a");
      return state === "running" && now === incarnation;
    });
    await running(daemon, "shop");
  };
  await restarted(first, 2);
  await first.kill9();
  const next = await startDaemon(first.stateDir);
  await restarted(next, 3);
  await apply(next, root);
  const info = await next.info("crew/b");
  expect([info.state, info.incarnation]).toEqual(["cancelled", 1]);
  figure("R32", {
    rounds: 4,
    failures: 0,
    note: "occasions to start what was killed: two restarts of its parent, another daemon, its file applied again",
  });
  await next.request("agent/restart", { ids: ["crew"] });
  await until("b runs again", async () => (await next.info("crew/b")).state === "running");
});
