/** Programs as orchestrators write them: many workers, crashes of the program and of its agents, many questions, costs. */
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { type LogRecord, Runtime } from "../../src/library/index.ts";
import { openForTest } from "../../src/library/testing.ts";
import { collect, isRunning, openRuntime, program, stateDirectory, until } from "./support.ts";

const shell = (script: string) => ({ kind: "command", argv: ["sh", "-c", script] }) as const;

/** How many runs there were at once, at most, by the records. */
const atOnce = (records: readonly LogRecord[]): number => {
  let [now, most] = [0, 0];
  for (const { type } of records) {
    if (type === "worker_spawned") now += 1;
    if (type === "worker_exited") now -= 1;
    most = Math.max(most, now);
  }
  return most;
};

test("fifty workers run at most eight at once, and those that fail are tried again", async () => {
  const stateDir = stateDirectory();
  const runtime = await Runtime.open({ stateDir, limits: { running_max: 8 } });
  onTestFinished(() => runtime.close());
  const results = await Promise.all(
    Array.from({ length: 50 }, async (_, n) => {
      const script = n % 10 === 0 ? `[ -e ok-${n} ] || { touch ok-${n}; exit 1; }` : "true";
      const worker = await runtime.run({
        ...shell(script),
        cwd: stateDir,
        restart: "transient",
        backoff_min_ms: 0,
        backoff_max_ms: 0,
      });
      return worker.result;
    }),
  );
  expect(results.map(({ status }) => status)).toEqual(results.map(() => "completed"));
  const records = await collect(runtime.watch({ from: 0, follow: false }));
  expect(records.filter(({ type }) => type === "worker_exited")).toHaveLength(55);
  expect(atOnce(records)).toBeLessThanOrEqual(8);
  expect(atOnce(records)).toBeGreaterThan(1);
});

test("a program that is killed goes on at its cursor, with each line once and no job twice", async () => {
  const stateDir = stateDirectory();
  const killed = program(join(import.meta.dirname, "fixtures/orchestrates.ts"), [stateDir]);
  await until(() => killed.stdout().endsWith("}"), "it is in the middle");
  killed.process.kill("SIGKILL");
  await killed.ended;
  const { ids, cursor } = JSON.parse(killed.stdout());
  const runtime = await openRuntime(stateDir);
  const again = await Promise.all(
    [1, 2, 3, 4, 5].map((n) => runtime.spawn({ ...shell("never"), idempotency_key: `job-${n}` })),
  ).catch(({ code }) => code);
  // The same key for another job is a mistake of the program.
  expect(again).toBe("VERSION_CONFLICT");
  const same = shell("for i in 1 2 3 4 5 6 7 8 9 10; do echo $i; sleep 0.1; done");
  for (const [at, id] of ids.entries())
    expect(await runtime.spawn({ ...same, idempotency_key: `job-${at + 1}` })).toMatchObject({
      id,
      effect: "noop",
    });
  const types = ["agent.event"] as const;
  const rest = await collect(runtime.watch({ ids, types, from: cursor }));
  const all = await collect(runtime.watch({ ids, types, from: 0 }));
  expect(all).toHaveLength(50);
  expect(rest).toEqual(all.slice(10));
  for (const id of ids) {
    const lines = all.filter(({ worker_id }) => worker_id === id).map(({ payload }) => payload);
    expect(lines).toMatchObject(Array.from({ length: 10 }, (_, at) => ({ text: `${at + 1}\n` })));
    expect(await runtime.info(id)).toMatchObject({ status: "completed", incarnation: 1 });
  }
});

test("a worker that is killed from outside is counted, restarted, given up, and leaves nothing behind", async () => {
  const runtime = await openRuntime();
  const workers = await Promise.all(
    [1, 2, 3].map(() =>
      runtime.run({
        ...shell("exec sleep 600"),
        restart: "permanent",
        max_restarts: 2,
        backoff_min_ms: 0,
        backoff_max_ms: 0,
      }),
    ),
  );
  const ids = workers.map(({ id }) => id);
  const pids: number[] = [];
  for await (const { payload } of runtime.watch({ ids, types: ["worker_spawned"] })) {
    const pid = payload.pid as number;
    pids.push(pid);
    process.kill(pid, "SIGKILL");
  }
  const records = await collect(runtime.watch({ ids }));
  const count = (type: string): number => records.filter((one) => one.type === type).length;
  expect([count("worker_exited"), count("worker_failed"), count("worker_ended")]).toEqual([9, 9, 3]);
  expect((await Promise.all(workers.map(({ result }) => result))).map(({ status }) => status)).toEqual(
    ids.map(() => "failed"),
  );
  expect(pids.filter(isRunning)).toEqual([]);
});

test("twenty questions at once are twenty turns in order, each with its answer", async () => {
  await using opened = await openForTest({ script: (agent) => agent.say(`answer to ${agent.text}`) });
  const { runtime } = opened;
  const worker = await runtime.run({ kind: "claude_code", interactive: true });
  const questions = Array.from({ length: 20 }, (_, at) => `question ${at}`);
  const answers = await Promise.all(questions.map((text) => worker.ask(text)));
  expect(answers.map(({ text }) => text)).toEqual(questions.map((text) => `answer to ${text}`));
  expect(answers.map(({ turn }) => turn)).toEqual(questions.map((_, at) => at + 1));
});

test("costs are summed by label, and a spent budget stops a worker or asks", async () => {
  await using opened = await openForTest({
    script: (agent) => {
      agent.uses({ input_tokens: 10, output_tokens: 5, cost_usd: 0.5 });
      agent.say("done");
    },
  });
  const { runtime, clock, settled } = opened;
  const run = (team: string, more: object = {}) =>
    runtime.run({ kind: "claude_code", prompt: "x", labels: { team }, ...more });
  await Promise.all(["a", "a", "b"].map(async (team) => (await run(team)).result));
  const { rows } = await runtime.usage([], { by: "label:team" });
  expect(Object.fromEntries(rows.map(({ key, cost_usd }) => [key, cost_usd]))).toEqual({ a: 1, b: 0.5 });
  const talking = { interactive: true, prompt: undefined, budget: { usd: 0.4 } };
  const stopped = await run("c", { ...talking, on_breach: "stop" });
  await stopped.ask("one");
  await clock.advance(20_000);
  expect(await stopped.result).toMatchObject({ status: "failed", error: { code: "BUDGET_EXCEEDED" } });
  const asking = await run("c", { ...talking, on_breach: "ask" });
  await asking.ask("one");
  await settled();
  expect((await runtime.inbox({ id: asking.id })).holds).toMatchObject([{ answers: ["continue", "stop"] }]);
  await runtime.answer(asking.id, "continue");
  expect(await asking.ask("two")).toMatchObject({ text: "done" });
});
