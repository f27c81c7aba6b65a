/** How watches end: with their worker, with the runtime, and never by a rejection that a program has to catch. */
import { expect, test } from "vitest";
import type { LogRecord, Runtime } from "../../src/library/index.ts";
import { collect, first, openRuntime, stateDirectory } from "./support.ts";

const chatty = {
  kind: "command",
  argv: ["sh", "-c", "while :; do echo tick; sleep 0.02; done"],
  restart: "permanent",
} as const;

const slowly = async (records: AsyncIterable<LogRecord>): Promise<readonly LogRecord[]> => {
  const all: LogRecord[] = [];
  for await (const record of records) {
    all.push(record);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  return all;
};

type Watching = (runtime: Runtime, id: string) => Promise<readonly LogRecord[]>;
const rows: readonly (readonly [string, Watching, "kill" | "keep"])[] = [
  ["of all, while a worker prints", (runtime) => collect(runtime.watch()), "kill"],
  ["of all, by a slow reader", (runtime) => slowly(runtime.watch()), "kill"],
  ["of one, and its agent is kept", (runtime, id) => collect(runtime.watch(id)), "keep"],
  ["of one that is killed, followed", (runtime, id) => collect(runtime.watch(id, { follow: true })), "kill"],
];

test.each(rows)("close ends a watch %s", async (_, watching, agents) => {
  const runtime = await openRuntime(stateDirectory());
  const { id } = await runtime.spawn(chatty);
  await first(runtime.watch(id), "agent.event");
  const read = watching(runtime, id);
  await first(runtime.watch(id, { from: (await runtime.info(id)).last_seq }), "agent.event");
  await runtime.close({ agents });
  await read;
});

test("close ends a watch of all where there is no worker, after the runtime's last record", async () => {
  const runtime = await openRuntime();
  const read = collect(runtime.watch(undefined, { from: 0 }));
  await runtime.close();
  expect((await read).at(-1)?.type).toBe("daemon_stopped");
});

test("a reader that keeps up reads to the runtime's last record, however busy the workers are", async () => {
  const runtime = await openRuntime();
  const { id } = await runtime.spawn(chatty);
  const read = collect(runtime.watch(undefined, { from: 0 }));
  await first(runtime.watch(id), "agent.event");
  await runtime.close();
  const records = await read;
  expect(records.map(({ seq }) => seq)).toEqual(records.map((_, index) => index + 1));
  expect(records.at(-1)?.type).toBe("daemon_stopped");
});

test("a reader that never comes back does not hold close up", async () => {
  const runtime = await openRuntime();
  const { id } = await runtime.spawn(chatty);
  const left = runtime.watch(id)[Symbol.asyncIterator]();
  await left.next();
  await runtime.close();
  // It gives the records that it had in hand, and then the end.
  for (let n = 0; n < 1_000; n += 1) if ((await left.next()).done) return;
  throw new Error("it did not end");
});

test.each([
  ["before the first record", { from: -5 }],
  ["no cursor", { from: "garbage" }],
  ["between two records", { from: 1.5 }],
  ["with an option that there is not", { fromm: 1 }],
])("a watch from %s is refused as what it is", async (_, options) => {
  const runtime = await openRuntime();
  await expect(collect(runtime.watch(undefined, options as never))).rejects.toMatchObject({
    code: "INVALID_REQUEST",
  });
});

test("a watch begins with the records that are at most so old", async () => {
  const runtime = await openRuntime();
  const all = await collect(runtime.watch({ from: 0, follow: false }));
  expect(await collect(runtime.watch({ since_ms: 3_600_000, follow: false }))).toEqual(all);
  expect(await collect(runtime.watch({ since_ms: 0, follow: false }))).toEqual([]);
  await expect(collect(runtime.watch({ since_ms: 1, from: 0 }))).rejects.toThrow("since_ms");
});
