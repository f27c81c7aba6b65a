/** For how long the answer of a federated task is kept (weblisk.txt, Data Boundary Contracts: `retention`), on both sides. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { newId } from "../support/agent.ts";
import { type Hub, makeHub } from "../support/hub.ts";

const HOUR_MS = 3_600_000;
const ANSWER = JSON.stringify({ title: "words of b", email: "secret-of-b" });

const opened: Hub[] = [];
afterEach(() => {
  for (const one of opened.splice(0)) one.close();
});

const hubs = async (retention: string): Promise<readonly [Hub, Hub]> => {
  const a = await makeHub("a.example");
  const b = await makeHub("b.example", { answer: () => ANSWER });
  opened.push(a, b);
  const data_boundary = { allow_fields: [], deny_fields: ["email"], max_payload_size: 65_536, retention };
  a.add(b, { data_boundary });
  b.add(a, { data_boundary });
  return [a, b];
};

const ask = ({ asker }: Hub, task_id: string) =>
  asker.task({
    ...{ hub_id: "b.example", task_id, capability: "seo:analyze" },
    inputs: { prompt: "words of a", email: "secret-of-a" },
  });

const pass = (hours: number, ...all: readonly Hub[]): void => {
  for (const { registry } of all) registry.wall_ms += hours * HOUR_MS;
};

/** Everything that a hub has on its disk. */
const written = ({ stateDir }: Hub): string =>
  readdirSync(stateDir, { recursive: true, withFileTypes: true })
    .filter((one) => one.isFile())
    .map((one) => readFileSync(join(one.parentPath, one.name), "latin1"))
    .join("\n");

const WORDS = ["words of a", "words of b", "secret-of-a", "secret-of-b"];

describe.each(["none", "24h"])("retention %s", (retention) => {
  it("no file of either hub has a field in clear, before the end of the time and after it", async () => {
    const [a, b] = await hubs(retention);
    await ask(a, newId());
    for (const one of [a, b]) for (const word of WORDS) expect(written(one)).not.toContain(word);
    pass(24, a, b);
    for (const { ground } of [a, b]) ground.vault.shred(ground.now(), () => true);
    for (const one of [a, b]) for (const word of WORDS) expect(written(one)).not.toContain(word);
    for (const one of [a, b]) expect(written(one)).not.toContain('"key":"');
  });
});

it("24h: a repeat has the answer for a day, also after a restart, and the other hub is not asked; then it is RETENTION_EXPIRED", async () => {
  const [a, b] = await hubs("24h");
  const task_id = newId();
  const answer = await ask(a, task_id);
  expect(answer.output).toEqual({ title: "words of b" });
  pass(23.9, a, b);
  b.start();
  const before = b.trail.length;
  expect(await ask(a, task_id)).toEqual(answer);
  expect(b.trail).toHaveLength(before);
  pass(0.1, a, b);
  await expect(ask(a, task_id)).rejects.toMatchObject({ code: "RETENTION_EXPIRED" });
  a.ground.vault.shred(a.ground.now(), () => true);
  await expect(ask(a, task_id)).rejects.toMatchObject({ code: "RETENTION_EXPIRED" });
});

it("none: nothing is kept where it is asked for, and the hub that answers has the answer for an hour", async () => {
  const [a, b] = await hubs("none");
  const task_id = newId();
  const answer = await ask(a, task_id);
  expect(a.ground.vault.open(`out b.example ${task_id}`, a.ground.now())).toBeUndefined();
  pass(0.9, a, b);
  expect(await ask(a, task_id)).toEqual(answer);
  expect(b.orders).toHaveLength(1);
  pass(0.1, a, b);
  await expect(ask(a, task_id)).rejects.toMatchObject({ code: "RETENTION_EXPIRED" });
  expect(b.orders).toHaveLength(1);
});
