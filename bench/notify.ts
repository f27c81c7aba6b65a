/**
 * A waiting agent until somebody is told: from the record of its request to the webhook's server, in quiet and over a SIGKILL of
 * the daemon between the two. A message counts once under its id. The floor is a bare POST to the same server, and the wait
 * of NOTIFY_DEBOUNCE_MS, in which an answer would make the message needless.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { NOTIFY_DEBOUNCE_MS } from "../src/base/limits.ts";
import { ascending, type BenchDaemon, ms, percentile, type Result, root, startDaemon } from "./support.ts";

const ROUNDS = process.env.HOLDFAST_QUICK === "1" ? 3 : 25;
const P99_MAX_MS = 2_000;
const AGENT = join(root, "test/fixtures/agents/converses.mjs");

interface Told {
  readonly id: string;
  readonly name: string;
  readonly took_ms: number;
}

/** A server that keeps what it was told and when. */
const listener = async () => {
  const told: Told[] = [];
  const server = createServer((request, response) => {
    let text = "";
    request.on("data", (chunk) => {
      text += chunk;
    });
    request.on("end", () => {
      response.end();
      const { timestamp, data } = JSON.parse(text);
      told.push({ id: data.id, name: data.name, took_ms: Date.now() - Date.parse(timestamp) });
    });
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  return { told, server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/` };
};

const until = async (is: () => boolean | Promise<boolean>): Promise<void> => {
  while (!(await is())) await sleep(5);
};

const bareOf = async (url: string, told: Told[]): Promise<readonly number[]> => {
  const took: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const began = performance.now();
    const message = { timestamp: new Date().toISOString(), data: { id: `b${round}`, name: "bare" } };
    await fetch(url, { method: "POST", body: JSON.stringify(message) });
    took.push(performance.now() - began);
  }
  told.length = 0;
  return ascending(took);
};

const asks = async (daemon: BenchDaemon, name: string): Promise<void> => {
  const spec = {
    kind: "claude_code",
    prompt: "permit",
    name,
    cwd: "/tmp",
    permission: "ask",
    restart: "temporary",
    env: { CLAUDE_BINARY: AGENT, LEDGER: join(daemon.dir, name) },
  };
  await daemon.request("agent/spawn", { spec });
  await until(async () => {
    const { approvals } = await daemon.request<{ approvals: { worker: string }[] }>("agent/approvals", {});
    return approvals.some(({ worker }) => worker === name);
  });
};

export const notify = async (): Promise<readonly Result[]> => {
  const { told, server, url } = await listener();
  const bare = await bareOf(url, told);
  const dir = mkdtempSync(join(tmpdir(), "holdfast-bench-notify-"));
  writeFileSync(join(dir, "secret"), `whsec_${Buffer.alloc(32, 1).toString("base64")}`);
  const targets = {
    hook: { webhook: { url, secret: `@file:${join(dir, "secret")}` }, private: true, events: ["approval"] },
  };
  writeFileSync(join(dir, "config.yaml"), JSON.stringify({ notifications: { targets } }));
  let daemon = await startDaemon({}, [], dir);
  const floor = `bare POST p99 ${ms(percentile(bare, 99))}, and the wait of ${NOTIFY_DEBOUNCE_MS} ms`;
  const results: Result[] = [];
  for (const isKilled of [false, true]) {
    const names = Array.from({ length: ROUNDS }, (_, at) => `${isKilled ? "killed" : "quiet"}${at}`);
    for (const name of names) {
      await asks(daemon, name);
      if (isKilled) {
        await daemon.kill9();
        daemon = await startDaemon({}, [], dir);
      }
      await until(() => told.some((one) => one.name === name));
      await daemon.request("agent/answer", { id: name, answer: "deny" });
    }
    const of = told.filter(({ name }) => names.includes(name));
    const firsts = [...new Map(of.toReversed().map((one) => [one.id, one])).values()];
    const took = ascending(firsts.map(({ took_ms }) => took_ms));
    const p99 = percentile(took, 99);
    results.push({
      name: `request for permission → webhook${isKilled ? ", the daemon killed between them" : ""}`,
      floor,
      measured: `p50 ${ms(percentile(took, 50))}, p99 ${ms(p99)}; ${firsts.length} of ${ROUNDS} told, ${of.length - firsts.length} twice under one id`,
      value: ms(p99),
      threshold: `p99 ≤ ${P99_MAX_MS / 1_000} s, each once by its id`,
      ok: p99 <= P99_MAX_MS && firsts.length === ROUNDS,
    });
  }
  await daemon.stop();
  server.closeAllConnections();
  server.close();
  rmSync(dir, { recursive: true, force: true });
  return results;
};
