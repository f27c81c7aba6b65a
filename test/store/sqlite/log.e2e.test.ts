import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { openLog } from "../../../src/store/sqlite/log.ts";
import { newFile } from "./support.ts";

const WRITER = fileURLToPath(new URL("fixtures/writer.ts", import.meta.url));
const ROUNDS = Number(process.env.HOLDFAST_CRASH_ROUNDS ?? 20);

/** Records of output that the writer commits with its checkpoints up to this one: i % 100 with the i-th. */
const outputUpTo = (offset: number): number =>
  Array.from({ length: offset }, (_, i) => (i + 1) % 100).reduce((sum, n) => sum + n, 0);

/** Starts a writer, kills it once it has acknowledged `acks` records, and returns the last seq that it acknowledged. */
const killedWriter = async (file: string, seed: number, acks: number): Promise<number> => {
  const child = spawn(process.execPath, [WRITER, file, String(seed)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const closed = once(child, "close");
  let said = "";
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
    said += chunk;
    if (said.split("\n").length > acks) child.kill("SIGKILL");
  });
  await closed;
  expect(child.signalCode).toBe("SIGKILL");
  return Number(said.split("\n").at(-2)); // the last whole line
};

it(`a writer killed at any point loses nothing that it acknowledged (${ROUNDS} rounds)`, {
  timeout: 60_000 + ROUNDS * 20_000,
}, async () => {
  const file = newFile();
  let before = 0;
  let epoch: string | undefined;
  for (let round = 0; round < ROUNDS; round++) {
    const acknowledged = await killedWriter(file, round, 1 + ((round * 37) % 90));
    const log = openLog({ file });
    try {
      expect(acknowledged).toBeGreaterThan(before);
      expect(log.head()).toBeGreaterThanOrEqual(acknowledged);
      expect(log.check()).toEqual({
        ok: true,
        records: log.head(),
        head: log.head(),
        findings: [],
        notes: [],
      }); // dense, intact, projections = fold
      const offset = log.checkpoints(`worker-${round}`, 1)[0]?.offset ?? 0;
      expect(log.stream(`worker-${round}`, ["agent.event"])).toHaveLength(outputUpTo(offset)); // committed with its records
      before = log.head();
      // A crash is no restore: the history goes on, and every cursor of it.
      epoch ??= log.epoch;
      expect([log.epoch, log.former]).toEqual([epoch, []]);
    } finally {
      log.close();
    }
  }
});
