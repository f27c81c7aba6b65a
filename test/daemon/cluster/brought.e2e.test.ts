/** A worker that runs on another node goes on with its session, its open turn, and its restart window. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, expect, it } from "vitest";
import { until } from "../../cli/support/commands.ts";
import { useClusters } from "./support/clusters.ts";
import type { ClusterMachine } from "./support/machines.ts";

/** Claude Code, as far as its sessions go. It ends by SIGKILL in the middle of the first prompt that begins with "crash". */
const AGENT = fileURLToPath(new URL("../../fixtures/agents/remembers.mjs", import.meta.url));
const REMEMBERED = join(mkdtempSync(join(tmpdir(), "holdfast-brought-")), "sessions");

const { clusterOf } = useClusters();
afterAll(() => rmSync(join(REMEMBERED, ".."), { recursive: true, force: true }));

const AS_AGENT = [`CLAUDE_BINARY=${AGENT}`, `CLAUDE_CONFIG_DIR=${REMEMBERED}`].flatMap((each) => [
  "-e",
  each,
]);
const info = async (machine: ClusterMachine, name: string) => (await machine.agent("info", name)).data;

it("a worker that moves resumes its session, and gives up after the restarts that it had elsewhere too", async () => {
  const cluster = await clusterOf("brought", ["a", "b"]);
  const [a, b] = cluster.machines as [ClusterMachine, ClusterMachine];
  // Both begin on a, and may begin on b.
  await a.agent("drain", "b");
  const anywhere = ["--on-partition", "stop", "--max-restarts", "1/1h"];
  const later = ["--restart", "transient", "--backoff", "100s..100s"];
  await a.agent("spawn", "claude", "crash read", "--name", "talks", ...anywhere, ...later, ...AS_AGENT);
  const starts = join(REMEMBERED, "..", "starts");
  const script = `echo >> ${starts}; [ $(wc -l < ${starts}) != 1 ] || exit 1; exec sleep 100000`;
  const atOnce = ["--restart", "permanent", "--backoff", "0s..0s"];
  await a.agent("spawn", "--name", "fails", ...anywhere, ...atOnce, "--", "sh", "-c", script);
  await until(async () => (await info(a, "talks")).state === "backing_off");
  await until(async () => (await info(a, "fails")).incarnation === 2);
  const { session_id } = await info(a, "talks");
  expect(session_id).toEqual(expect.any(String));
  await until(() => cluster.isCopied(a));

  await a.agent("drain", "b", "--undo");
  cluster.powerOff(a);
  const pid = await cluster.pidOn(b, "fails");
  await until(async () => (await info(b, "talks")).state === "completed");
  expect(await info(b, "talks")).toMatchObject({ session_id, incarnation: 1 });
  expect((await b.agent("output", "talks")).data.text).toBe("crash read / crash read");
  process.kill(pid, "SIGKILL");
  await until(async () => (await info(b, "fails")).state === "failed");
  expect(await info(b, "fails")).toMatchObject({
    incarnation: 1,
    reason: "gave up: more than 1 restart in 1h",
  });
  expect(readFileSync(starts, "utf8")).toBe("\n\n\n");
});

it("a worker whose turn was cut by its move asks, goes on or ends there as after a crash", async () => {
  const cluster = await clusterOf("cut_turn", ["a", "b"]);
  const [a, b] = cluster.machines as [ClusterMachine, ClusterMachine];
  await a.agent("drain", "b");
  const spawns = (name: string, prompt: string, ...more: readonly string[]) =>
    a.agent(
      ...["spawn", "claude", prompt, "--name", name, "--on-partition", "stop", "--restart", "transient"],
      ...[...more, ...AS_AGENT],
    );
  await spawns("asks", "hang there");
  await spawns("goes-on", "hang read");
  await spawns("ends", "hang read again", "--on-interrupted", "never");
  await spawns("asked", "crash there");
  const calls = async (name: string) => (await a.agent("logs", name)).stdout.includes('"ToolCall"');
  for (const name of ["asks", "goes-on", "ends"]) await until(() => calls(name));
  await until(async () => (await info(a, "asked")).state === "waiting");
  const { session_id } = await info(a, "asks");
  const promptsOf = () => readFileSync(join(REMEMBERED, session_id as string), "utf8");
  await until(() => cluster.isCopied(a));

  await a.agent("drain", "b", "--undo");
  cluster.powerOff(a);
  for (const name of ["asks", "goes-on", "ends", "asked"])
    await until(async () => (await b.agent("info", name)).exit === 0);
  await until(async () => (await info(b, "goes-on")).state === "completed");
  expect((await b.agent("output", "goes-on")).data.text).toBe("hang read / hang read");
  await until(async () => (await info(b, "ends")).state === "failed");
  expect(await info(b, "ends")).toMatchObject({ reason: "interrupted_turn", incarnation: 0 });
  const waiting = async () => ((await b.agent("inbox")).data as unknown as { worker: string }[]).length;
  await until(async () => (await waiting()) === 2);
  const asked = (await b.agent("inbox")).data as unknown as { worker: string }[];
  expect(asked.toSorted((x, y) => (x.worker < y.worker ? -1 : 1))).toMatchObject(
    ["asked", "asks"].map((worker) => ({
      worker,
      reason: "interrupted",
      answers: ["continue", "fresh", "stop"],
    })),
  );

  // The question outlasts the daemon, and nothing runs before the answer.
  await b.killDaemon();
  await b.agent("daemon", "start");
  await until(() => cluster.holdsLease(b));
  expect(await info(b, "asks")).toMatchObject({ state: "waiting", session_id });
  expect(promptsOf()).toBe("hang there\n");
  expect((await b.agent("answer", "asks", "continue")).exit).toBe(0);
  await until(async () => (await info(b, "asks")).state === "completed");
  expect(promptsOf()).toBe("hang there\nhang there\n");
  expect((await b.agent("answer", "asked", "stop")).exit).toBe(0);
  expect(await info(b, "asked")).toMatchObject({ state: "failed", reason: "interrupted_turn" });
});
