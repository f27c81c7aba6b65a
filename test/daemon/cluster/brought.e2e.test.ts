/** A worker that runs on another node goes on with its session, and its restart window goes on too. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, expect, it } from "vitest";
import { until } from "../../cli/support/commands.ts";
import { TestPostgres } from "../../support/postgres.ts";
import { ClusterOfMachines } from "./support/machines.ts";

/** Claude Code, as far as its sessions go. It ends by SIGKILL in the middle of the first prompt that begins with "crash". */
const AGENT = fileURLToPath(new URL("../../fixtures/agents/remembers.mjs", import.meta.url));
const REMEMBERED = join(mkdtempSync(join(tmpdir(), "holdfast-brought-")), "sessions");

const closing: (() => unknown)[] = [];
afterAll(async () => {
  for (const close of closing.reverse()) await close();
});

it("a worker that moves resumes its session, and gives up after the restarts that it had elsewhere too", async () => {
  closing.push(() => rmSync(join(REMEMBERED, ".."), { recursive: true, force: true }));
  const postgres = await TestPostgres.start();
  closing.push(() => postgres.remove());
  const url = await postgres.database("brought");
  const cluster = await ClusterOfMachines.start(() => url, ["a", "b"]);
  closing.push(() => cluster.close());
  const [a, b] = cluster.machines as [ClusterOfMachines["machines"][0], ClusterOfMachines["machines"][0]];
  // Both begin on a, and may begin on b.
  await a.agent("drain", "b");
  const anywhere = ["--on-partition", "stop", "--max-restarts", "1/1h"];
  const agent = [`CLAUDE_BINARY=${AGENT}`, `CLAUDE_CONFIG_DIR=${REMEMBERED}`].flatMap((each) => ["-e", each]);
  const later = ["--restart", "transient", "--backoff", "100s..100s"];
  await a.agent("spawn", "claude", "crash read", "--name", "talks", ...anywhere, ...later, ...agent);
  const starts = join(REMEMBERED, "..", "starts");
  const script = `echo >> ${starts}; [ $(wc -l < ${starts}) != 1 ] || exit 1; exec sleep 100000`;
  const atOnce = ["--restart", "permanent", "--backoff", "0s..0s"];
  await a.agent("spawn", "--name", "fails", ...anywhere, ...atOnce, "--", "sh", "-c", script);
  const info = async (machine: typeof a, name: string) => (await machine.agent("info", name)).data;
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
