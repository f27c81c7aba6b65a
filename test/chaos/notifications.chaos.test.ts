/**
 * The daemon dies at the steps of the outbox, with one failed worker after the other to tell of: every failure is told at
 * least once, and always under one id, by which a receiver tells repeats.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { CRASH_VARIABLE } from "../../src/base/crash-point.ts";
import { full } from "../support/figures.ts";
import { launchedDaemon, startDaemon, temporaryDirectory, until } from "./support.ts";

const POINTS = ["notify-taken", "notify-before-name", "notify-before-send", "notify-sent"] as const;
const PASSAGES = full ? [1, 2, 3] : [1];
const DEATHS = PASSAGES.flatMap((passage) => POINTS.map((point) => `${point}:${passage}`));
/** Failures in each life: enough to pass every point as often as its death asks for. */
const FAILURES = Math.max(...PASSAGES);

/** A webhook's receiver: the ids under which each worker's failure came. */
const receive = async () => {
  const ids = new Map<string, string[]>();
  const server = createServer((request, response) => {
    let text = "";
    request.on("data", (chunk) => {
      text += chunk;
    });
    request.on("end", () => {
      const { name } = JSON.parse(text).data as { name: string | null };
      if (name !== null) ids.set(name, [...(ids.get(name) ?? []), String(request.headers["webhook-id"])]);
      response.writeHead(200).end();
    });
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { ids, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook` };
};

test(`${DEATHS.length} deaths at the steps of the outbox: every failure is told, and under one id`, {
  timeout: 300_000,
}, async () => {
  const { ids, url } = await receive();
  const stateDir = join(temporaryDirectory(), "state");
  mkdirSync(stateDir, { mode: 0o700 });
  const secret = join(stateDir, "hook.secret");
  writeFileSync(secret, `whsec_${Buffer.from("x".repeat(32)).toString("base64")}`, { mode: 0o600 });
  const hook = {
    webhook: { url, secret: `@file:${secret}` },
    private: true,
    events: ["failed"],
    debounce: "0ms",
  };
  const configuration = { notifications: { targets: { hook } } };
  writeFileSync(join(stateDir, "config.yaml"), JSON.stringify(configuration), { mode: 0o600 });
  // From its first daemon on, an outbox tells of everything.
  await (await startDaemon(stateDir)).kill9();

  const specOf = (name: string) => ({
    kind: "command",
    argv: ["false"],
    cwd: "/",
    restart: "temporary" as const,
    name,
  });
  const failures = DEATHS.flatMap((_, life) => Array.from({ length: FAILURES }, (__, n) => `${life}-${n}`));
  for (const [life, death] of DEATHS.entries()) {
    const daemon = launchedDaemon(stateDir, { env: { [CRASH_VARIABLE]: death } });
    const spawn = (name: string) =>
      daemon.request("agent/spawn", { spec: specOf(name), idempotency_key: name });
    // The remains of the last life may kill this one before it is asked.
    if (await daemon.answers())
      await Promise.allSettled(failures.filter((name) => name.startsWith(`${life}-`)).map(spawn));
    await until(`it dies at ${death}`, () => daemon.ended());
    expect(daemon.process.signalCode, `${death} was reached: ${daemon.said()}`).toBe("SIGKILL");
  }

  const last = await startDaemon(stateDir);
  for (const name of failures)
    await last.request("agent/spawn", { spec: specOf(name), idempotency_key: name });
  await until("every failure is told", () => failures.every((name) => ids.has(name)));
  await until("nothing waits", async () => {
    const { targets } = await last.request<{ targets: { pending: number }[] }>("notify/list", {});
    return targets.every(({ pending }) => pending === 0);
  });
  expect([...ids.keys()].sort()).toEqual([...failures].sort());
  for (const [name, told] of ids) {
    expect(new Set(told).size, `${name} has one id`).toBe(1);
    // A life repeats no more than what it found in the outbox.
    expect(told.length, `${name} is repeated by deaths alone`).toBeLessThanOrEqual(1 + DEATHS.length);
  }
  const repeats = [...ids.values()].reduce((sum, told) => sum + told.length - 1, 0);
  expect(repeats, "the death after a sending repeats it").toBeGreaterThanOrEqual(1);
});
