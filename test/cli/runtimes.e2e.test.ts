/** A runtime of a user's, from the configuration of a real daemon: workers run in it, and everything that names them says so. */
import { writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type Commands, makeCommands } from "./support/commands.ts";

const module = resolve(import.meta.dirname, "../fixtures/runtimes/in-daemon.mjs");
let commands: Commands;

beforeAll(async () => {
  commands = makeCommands();
  const missing = join(commands.home, "missing.mjs");
  writeFileSync(
    join(commands.home, "config.yaml"),
    `runtimes:\n  inside: { module: ${module}, options: { greeting: hello } }\n  gone: { module: ${missing} }\n`,
  );
  expect((await commands.agent("daemon", "start")).exit).toBe(0);
});
afterAll(() => commands.close());

it("runs a command there to its end, with its output and its code", async () => {
  const spawned = await commands.agent(
    "spawn",
    "--name",
    "well",
    "--runtime",
    "inside",
    "--wait",
    "--",
    "ends",
    "0",
  );
  expect(spawned).toMatchObject({ exit: 0 });
  expect((await commands.text("logs", "well")).stdout).toContain("hello ends 0, of a store");
  const failed = await commands.agent("spawn", "--runtime", "inside", "--wait", "--", "ends", "3");
  expect(failed.exit).not.toBe(0);
});

it("says in each view where it runs, and kills it", async () => {
  await commands.agent("spawn", "--name", "long", "--runtime", "inside", "--", "stays");
  await commands.agent("spawn", "--name", "here", "--", "sleep", "600");
  const { data } = await commands.agent("info", "long");
  expect(data).toMatchObject({ backend_kind: "in_daemon", pid: null, spec: { runtime: "inside" } });
  expect((await commands.text("info", "long")).stdout).toMatch(/runtime +inside, of kind in_daemon/);
  expect((await commands.agent("info", "here")).data).toMatchObject({ backend_kind: "subprocess" });
  const { stdout: list } = await commands.text("list");
  expect(list).toMatch(/RUNTIME/);
  expect(list).toMatch(/long .*in_daemon/);
  expect((await commands.text("tree")).stdout).toMatch(/long .*in in_daemon/);
  expect((await commands.text("daemon", "status")).stdout).toMatch(
    /runtimes +process \(subprocess\), inside \(in_daemon\)/,
  );
  const { checks } = (await commands.agent("doctor")).data as { checks: Record<string, string>[] };
  expect(checks.find(({ name }) => name === "daemon")?.finding).toContain("inside (in_daemon)");
  expect((await commands.agent("pause", "long")).error).toMatchObject({ code: "INVALID_REQUEST" });
  expect(await commands.agent("kill", "long")).toMatchObject({ exit: 0 });
  expect((await commands.agent("info", "long")).data).toMatchObject({
    state: "cancelled",
    signal: "SIGTERM",
  });
});

it("refuses a budget that asks where the runtime cannot pause, and ends a run for a budget above it", async () => {
  const own = ["spawn", "--runtime", "inside", "--budget", "wall=1h"];
  expect((await commands.agent(...own, "--", "stays")).error?.message).toBe(
    "runtime: inside cannot pause a run when its budget is spent; let it be stopped then (--on-breach stop), or use the runtime process",
  );
  const stopped = await commands.agent(...own, "--on-breach", "stop", "--", "ends", "0");
  expect(stopped.exit).toBe(0);
  const waits = await commands.agent(
    "spawn",
    "--runtime",
    "inside",
    "--on-output-quota",
    "pause",
    "--",
    "stays",
  );
  expect(waits.error?.message).toContain("cannot pause a run at its output quota");

  const file = join(commands.home, "holdfast.yaml");
  writeFileSync(
    file,
    "version: 1\nname: paid\ntree:\n  budget: { wall: 300ms }\n  children:\n    - { name: far, runtime: inside, argv: [stays], restart: temporary }\n",
  );
  expect((await commands.agent("up", "-f", file)).exit).toBe(0);
  const waited = await commands.agent("wait", "far");
  expect(waited.error).toMatchObject({
    code: "BUDGET_EXCEEDED",
    message: expect.stringMatching(
      /budget of paid is spent: 300ms; it was ended and not paused, because its runtime cannot pause a run/,
    ),
  });
  expect((await commands.text("why", "far")).stdout).toContain("ended, because its runtime cannot pause it");
});

it("refuses a runtime that is not there, and one that could not be made", async () => {
  for (const name of ["insed", "gone"]) {
    const { exit, error } = await commands.agent("spawn", "--runtime", name, "--", "stays");
    expect({ exit, error }).toMatchObject({
      exit: 5,
      error: {
        code: "RUNTIME_NOT_FOUND",
        suggestion: expect.stringContaining("Use one of: process, inside"),
      },
    });
  }
});
