/** A session that a placed worker holds is refused at every node, and of those who ask for it at once one has it. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, expect, it } from "vitest";
import { until } from "../../cli/support/commands.ts";
import { useClusters } from "./support/clusters.ts";
import type { ClusterMachine } from "./support/machines.ts";

/** Claude Code, as far as its sessions go. It never ends in the first prompt that begins with "hang". */
const AGENT = fileURLToPath(new URL("../../fixtures/agents/remembers.mjs", import.meta.url));
const REMEMBERED = join(mkdtempSync(join(tmpdir(), "holdfast-sessions-")), "sessions");
const AS_AGENT = [`CLAUDE_BINARY=${AGENT}`, `CLAUDE_CONFIG_DIR=${REMEMBERED}`].flatMap((each) => [
  "-e",
  each,
]);

const { clusterOf } = useClusters();
afterAll(() => rmSync(join(REMEMBERED, ".."), { recursive: true, force: true }));

const spawnsOn = (machine: ClusterMachine, name: string, prompt: string, ...more: readonly string[]) =>
  machine.agent("spawn", "claude", prompt, "--name", name, ...more, ...AS_AGENT);
/** The session that its agent has told. */
const sessionOf = async (machine: ClusterMachine, name: string): Promise<string> => {
  let session: unknown;
  await until(async () => {
    session = (await machine.agent("info", name)).data?.session_id;
    return typeof session === "string";
  });
  return session as string;
};
const promptsIn = (session: string) => readFileSync(join(REMEMBERED, session), "utf8").trim().split("\n");

it("it is refused to a worker of another node, placed or not, until its holder has ended", async () => {
  const cluster = await clusterOf("held_session", ["a", "b"]);
  const [a, b] = cluster.machines as [ClusterMachine, ClusterMachine];
  await spawnsOn(b, "holds", "hang there", "--where", "node=a", "--restart", "transient");
  const session = await sessionOf(a, "holds");
  const refused = {
    code: "SESSION_IN_USE",
    message: `Worker holds of the node a already uses session ${session}.`,
  };
  const isRefused = async (machine: ClusterMachine, ...more: readonly string[]): Promise<void> => {
    await until(
      async () =>
        (await spawnsOn(machine, "other", "x", "--session", session, "--dry-run", ...more)).exit !== 0,
    );
    expect((await spawnsOn(machine, "other", "x", "--session", session, ...more)).error).toMatchObject(
      refused,
    );
  };
  await isRefused(b);
  await isRefused(b, "--where", "node=b");
  await isRefused(a, "--where", "node=b");
  expect(promptsIn(session)).toEqual(["hang there"]);

  // A local worker of b has ended, and a placed one of a goes on in its session.
  await spawnsOn(b, "local", "hello");
  await until(async () => (await b.agent("info", "local")).data.state === "completed");
  const other = await sessionOf(b, "local");
  const goesOn = await spawnsOn(b, "goes-on", "hang on", "--where", "node=a", "--session", other);
  expect(goesOn.data).toMatchObject({ node: "a", status: "running" });
  const message = `Worker goes-on of the node a already uses session ${other}.`;
  expect((await b.agent("resume", "local", "more")).error).toMatchObject({ code: "SESSION_IN_USE", message });

  // Two nodes at once.
  await b.agent("kill", "holds");
  const asking = [a, b].map((machine) =>
    spawnsOn(
      machine,
      `on-${machine.name}`,
      "hang again",
      "--where",
      `node=${machine.name}`,
      "--session",
      session,
    ),
  );
  const answers = await Promise.all(asking);
  expect(answers.filter(({ exit }) => exit === 0)).toHaveLength(1);
  const [lost] = answers.flatMap(({ error }) => (error === null ? [] : [error]));
  expect(lost?.message).toContain(`already uses session ${session}.`);
  await until(() => promptsIn(session).length === 2);
  expect(promptsIn(session)).toEqual(["hang there", "hang again"]);
});
