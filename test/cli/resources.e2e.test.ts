/** The use of the machine by workers, as `agent list --wide` and `agent info` show it. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { type Commands, makeCommands } from "./support/commands.ts";

let commands: Commands;
beforeAll(async () => {
  commands = makeCommands();
  await commands.agent("daemon", "start");
});
afterAll(() => commands.close());

interface Used {
  readonly name: string;
  readonly resources?: { readonly cpu_ms: number; readonly memory_bytes: number; readonly processes: number };
}

const listed = async (...flags: string[]): Promise<readonly Used[]> =>
  (await commands.agent("list", ...flags)).data as unknown as readonly Used[];

it("the processor time, memory and processes of a worker count what its agent started", async () => {
  // The shell's child begins after the agent, and is the one that works.
  await commands.agent("spawn", "--name", "busy", "--", "sh", "-c", "(while :; do :; done) & sleep 1000");
  await commands.agent("spawn", "--name", "calm", "--", "sleep", "1000");
  let [busy, calm]: Used["resources"][] = [];
  // A worker uses nothing before its program runs.
  do {
    const workers = await listed("--wide");
    [busy, calm] = ["busy", "calm"].map((worker) => workers.find(({ name }) => name === worker)?.resources);
  } while (calm === undefined || (busy?.cpu_ms ?? 0) < 100 || busy?.processes !== 3);
  expect(calm.cpu_ms).toBeLessThan(1_000);
  expect(busy.memory_bytes).toBeGreaterThan(100_000);
  expect((await listed()).map(({ resources }) => resources)).toEqual([undefined, undefined]);
});

it("people see them as columns with -o wide, and in words in info", async () => {
  const list = await commands.start(["list", "-o", "wide"]).ended;
  expect(list.stdout).toMatch(/PID +CPU +MEMORY +PROCS +AGE/);
  expect(list.stdout).toMatch(/calm .* 0ms +[\d.]+ [KM]B +1 /);
  const info = await commands.start(["info", "busy", "-o", "text"]).ended;
  expect(info.stdout).toMatch(/uses +[\w.]+ of processor time, [\d.]+ MB in 3 processes/);
});
