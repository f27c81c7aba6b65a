/** A federated task whose hubs are killed at each of their steps: one worker, one answer, and nothing of a denied field. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { HoldfastError } from "../../../src/protocol/errors.ts";
import type { HubAnswer } from "../../../src/weblisk/federation/asking.ts";
import { newId } from "../support/agent.ts";
import { type Hub, HubKilled, Killer, makeHub } from "../support/hub.ts";

const DENIED = {
  ...{ allow_fields: [], deny_fields: ["email"], max_payload_size: 65_536, retention: "none" as const },
};
const TRIES_MAX = 5;
/** As often as a hub does something in a task that nothing disturbs. */
const STEPS_MIN = 10;

const ANSWER = JSON.stringify({ title: "t", list: [{ "E-Mail": "secret-of-b" }] });

const writtenBy = ({ stateDir }: Hub): string =>
  readdirSync(stateDir, { recursive: true, withFileTypes: true })
    .filter((one) => one.isFile())
    .map((one) => readFileSync(join(one.parentPath, one.name), "utf8"))
    .join("\n");

const tasksIn = ({ trail }: Hub) =>
  trail
    .filter(({ action }) => action.startsWith("task."))
    .map(({ action, status, detail }) => ({ action, status, digest: detail.digest, fields: detail.fields }));

/** As a person does whose command was cut off: the same command once more, with the same id. */
const asked = async (a: Hub, task_id: string): Promise<HubAnswer> => {
  const inputs = { prompt: "p", deep: [{ E_MAIL: "secret-of-a" }] };
  for (let tries = 1; ; tries += 1) {
    try {
      return await a.asker.task({ hub_id: "b.example", task_id, capability: "seo:analyze", inputs });
    } catch (cause) {
      if (tries === TRIES_MAX || !(cause instanceof HubKilled || cause instanceof HoldfastError)) throw cause;
      if (cause instanceof HubKilled) a.start();
    }
  }
};

/** The steps of both hubs in a handshake and a task, of which one was killed once. */
const tried = async (killers: { readonly a: Killer; readonly b: Killer }): Promise<void> => {
  const a = await makeHub("a.example", { killer: killers.a });
  const b = await makeHub("b.example", { killer: killers.b, answer: () => ANSWER });
  try {
    a.add(b, { data_boundary: DENIED });
    b.add(a, { data_boundary: DENIED });
    const task_id = newId();
    const answer = await asked(a, task_id);
    expect(answer).toMatchObject({ output: { title: "t", list: [{}] }, stripped: ["E_MAIL"] });
    expect(await asked(a, task_id)).toEqual(answer);
    expect(b.orders).toHaveLength(1);
    expect(tasksIn(a)).toMatchObject([{ action: "task.request" }, { action: "task.result", status: "ok" }]);
    expect(tasksIn(a)).toEqual(tasksIn(b));
    expect(
      [a.registry, b.registry].flatMap(({ peers }) => [...peers.values()].flatMap(({ open }) => open)),
    ).toEqual([]);
    expect(writtenBy(b) + JSON.stringify([b.orders, b.trail])).not.toContain("secret-of-a");
    expect(writtenBy(a) + JSON.stringify(a.trail)).not.toContain("secret-of-b");
  } finally {
    a.close();
    b.close();
  }
};

it.each(["a", "b"] as const)("the hub %s is killed at each of its steps", async (side) => {
  const whole = { a: new Killer(), b: new Killer() };
  await tried(whole);
  const { steps } = whole[side];
  expect(steps.length).toBeGreaterThanOrEqual(STEPS_MIN);
  for (const [at, name] of steps.entries()) {
    const killers = { a: new Killer(), b: new Killer(), [side]: new Killer(at) };
    await tried(killers).catch((cause: Error) => {
      throw new Error(`killed at step ${at}, ${name}: ${cause.message}`, { cause });
    });
    expect(killers[side].steps.length, "it was killed").toBeGreaterThan(at);
  }
});
