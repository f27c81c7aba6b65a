/** Write in the child → record at a watcher on the socket, at 250 events a second; the floor is the same bytes over a bare pipe. */
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { ascending, type BenchDaemon, command, ms, percentile, type Result, startDaemon } from "./support.ts";

const EVENTS = 2_000;
const writer = `
let n = 0;
const next = () => {
  if (n++ >= ${EVENTS}) return;
  process.stdout.write("t=" + process.hrtime.bigint() + "\\n");
  setTimeout(next, 4);
};
setTimeout(next, 300);
`;
const sentAt = (line: string): bigint | undefined => {
  const at = /t=(\d+)/.exec(line)?.[1];
  return at === undefined ? undefined : BigInt(at);
};
const since = (at: bigint): number => Number(process.hrtime.bigint() - at) / 1e6;

const overPipe = async (): Promise<number[]> => {
  const child = spawn(process.execPath, ["-e", writer], { stdio: ["ignore", "pipe", "inherit"] });
  const delays: number[] = [];
  for await (const line of createInterface({ input: child.stdout })) {
    const at = sentAt(line);
    if (at !== undefined) delays.push(since(at));
  }
  return delays;
};

/** `disturb` is what goes on beside it, begun before the agent. */
export const overHoldfast = async (
  disturb: (daemon: BenchDaemon) => Promise<() => void> = async () => () => undefined,
): Promise<number[]> => {
  const daemon = await startDaemon();
  const undisturb = await disturb(daemon);
  const delays: number[] = [];
  const { id } = await daemon.request<{ id: string }>(
    "agent/spawn",
    command([process.execPath, "-e", writer]),
  );
  await daemon.watch({ ids: [id], from: 0, follow: false, kinds: ["TextOutput"] }, (line) => {
    const at = sentAt(line);
    if (at !== undefined) delays.push(since(at));
  });
  undisturb();
  await daemon.stop();
  return delays;
};

export const latency = async (): Promise<Result> => {
  const floor = ascending(await overPipe());
  const ours = ascending(await overHoldfast());
  if (ours.length !== EVENTS || floor.length !== EVENTS)
    throw new Error(`only ${ours.length} and ${floor.length} of ${EVENTS} events arrived`);
  const over = percentile(ours, 50) - percentile(floor, 50);
  return {
    name: "write in the child → record at a watcher, 250 events/s",
    measured: `p50 ${ms(percentile(ours, 50))}, p99 ${ms(percentile(ours, 99))}`,
    floor: `bare pipe: p50 ${ms(percentile(floor, 50))}, p99 ${ms(percentile(floor, 99))}`,
    value: `p50 ${ms(over)} over it, p99 ${ms(percentile(ours, 99))}`,
    threshold: "p50 ≤ 5 ms over it, p99 ≤ 20 ms",
    ok: over <= 5 && percentile(ours, 99) <= 20,
  };
};
