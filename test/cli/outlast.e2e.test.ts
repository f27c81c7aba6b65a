/** Commands that wait outlast their daemon: killed, stopped, upgraded. Real processes. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { EnvelopeV1, ResponseEnvelope } from "../../src/protocol/envelope-schemas.ts";
import { figure } from "../support/figures.ts";
import { type Commands, makeCommands, type Running, until } from "./support/commands.ts";

let commands: Commands;
beforeEach(() => {
  commands = makeCommands();
});
afterEach(() => commands.close());

const GONE = "The daemon is gone; its agents keep running.";
const COUNTING = "i=0; while :; do i=$((i+1)); echo line $i; sleep 0.1; done";

const crash = async (): Promise<void> => {
  await commands.killDaemon();
};
const linesOf = (running: Running): string[] => running.out().trimEnd().split("\n");

/** An agent's words, in order, as JSON lines of records or of progress envelopes tell it. */
const said = (running: Running): number[] =>
  linesOf(running)
    .map((line) => JSON.parse(line))
    .map((line) => (line.status === "progress" ? line.data : line))
    .filter((record) => record.type === "agent.event")
    .map((record) => Number(/\d+/.exec(record.payload.text)![0]));

/** The wait, its watch for requests for permission, and the status itself. */
const untilItWaits = () =>
  until(async () => (await commands.agent("daemon", "status")).data.requests_in_flight === 3);

describe("a daemon that is killed", () => {
  it.each(["json", "ndjson"])("is survived by watch -o %s without a gap or a repeat", async (mode) => {
    await commands.agent("spawn", "--name", "counter", "--", "sh", "-c", COUNTING);
    const watching = commands.start(["watch", "counter", "--from", "0", "-o", mode]);
    await until(() => watching.out().includes("line 3"));
    await crash();
    await until(() => watching.err().includes(`${GONE} Waiting for the next one: agent daemon start`));
    expect((await commands.agent("daemon", "start")).data.effect).toBe("created");
    const before = said(watching).length;
    await until(() => said(watching).length > before + 5);
    watching.child.kill("SIGINT");
    const { exit, stderr } = await watching.ended;
    expect(exit).toBe(130);
    expect(stderr).toContain("The next daemon answers.");
    const heard = said(watching);
    expect(heard).toEqual(heard.map((_, at) => at + 1));
    const last = JSON.parse(linesOf(watching).at(-1)!);
    if (mode === "json") expect(ResponseEnvelope.parse(last).warnings[0]).toContain(GONE);
    else {
      const lines = linesOf(watching).map((line) => EnvelopeV1.parse(JSON.parse(line)));
      const progress = lines.slice(0, -1).map((line) => (line.meta as { seq: number }).seq);
      expect(progress).toEqual(progress.map((_, at) => at));
    }
    figure("R14", {
      rounds: heard.length,
      failures: 0,
      note: `lines of a watch -o ${mode} that outlasted its daemon`,
    });
  });

  it("is replaced by spawn --watch, which may start one", async () => {
    // It says the rest once the daemon is gone.
    const go = join(commands.home, "go");
    const script = `echo line 1; echo line 2; until [ -e ${go} ]; do sleep 0.05; done; for i in 3 4 5 6 7 8; do echo line $i; done`;
    const watching = commands.start(["spawn", "--watch", "-o", "json", "--", "sh", "-c", script]);
    await until(() => watching.out().includes("line 2"));
    await crash();
    await until(() => watching.err().includes(GONE));
    writeFileSync(go, "");
    const { exit, stderr } = await watching.ended;
    expect(JSON.parse(linesOf(watching).at(-1)!).meta.retries).toBeGreaterThan(0);
    expect({ exit, heard: said(watching) }).toEqual({ exit: 0, heard: [1, 2, 3, 4, 5, 6, 7, 8] });
    expect(stderr).toContain(`${GONE} Starting the next one.`);
  });

  it("is waited for no longer than wait --timeout, and the way on is told", async () => {
    await commands.agent("spawn", "--name", "sleeper", "--", "sleep", "300");
    const waiting = commands.start(["wait", "sleeper", "--timeout", "12s", "-o", "json"]);
    await untilItWaits();
    await crash();
    const { exit, stdout } = await waiting.ended;
    expect(exit).toBe(12);
    const { error, meta } = ResponseEnvelope.parse(JSON.parse(stdout));
    expect(error).toMatchObject({
      code: "UNAVAILABLE",
      suggestion: expect.stringContaining("agent daemon start && agent wait sleeper"),
    });
    expect(meta).toMatchObject({ attempts: expect.any(Number), backoff: "fixed 200ms" });
    await commands.agent("daemon", "start");
  });
});

it("a daemon that is stopped and started again is outlasted by wait", async () => {
  await commands.agent("spawn", "--name", "sleeper", "--", "sleep", "300");
  const waiting = commands.start(["wait", "sleeper", "-o", "text"]);
  await untilItWaits();
  expect((await commands.agent("daemon", "stop", "--keep-agents")).exit).toBe(0);
  await until(() => waiting.err().includes(GONE));
  await commands.agent("daemon", "start");
  expect((await commands.agent("kill", "sleeper", "--grace", "1s")).exit).toBe(0);
  const { exit, stderr } = await waiting.ended;
  expect(exit).toBe(1);
  expect(stderr).toContain("sleeper was cancelled");
});
