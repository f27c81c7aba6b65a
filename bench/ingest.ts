/**
 * Input lines a second from a spool to the durable log: a claude transcript repeated to 200,000 lines, printed by a
 * supervised agent and watched by one client over the socket. The floor is a bare loop in one process: read the file,
 * JSON.parse, insert into the same table with the same indexes and durability in batches of 64, no projections.
 */
import { execFileSync } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { cpuMs } from "./inspect.ts";
import { environment, type Result, root, startDaemon, transcript } from "./support.ts";

const LINES = 200_000;
const ROUNDS = 3;

/** The whole transcript over and over: as many runs' lines as make `lines`. */
export const repeated = (lines: number): string => {
  const whole = `${transcript().trimEnd()}\n`;
  return whole.repeat(Math.ceil(lines / (whole.split("\n").length - 1)));
};

export interface Ingested {
  readonly seconds: number;
  /** Processor time of the daemon, with its threads. */
  readonly cpu_ms: number;
}

/** One run of an agent that prints the file's `lines`, watched to its end: seconds, and the daemon's processor time. */
export const ingested = async (
  file: string,
  dir: string,
  lines: number,
  env: Record<string, string> = {},
): Promise<Ingested> => {
  const fake = join(dir, "claude");
  writeFileSync(fake, `#!/bin/sh\nexec cat ${file}\n`);
  chmodSync(fake, 0o755);
  const daemon = await startDaemon(env);
  const cpu = cpuMs(daemon.pid);
  const before = performance.now();
  const spec = {
    kind: "claude_code",
    prompt: "go",
    cwd: "/",
    client_env: { ...environment(), CLAUDE_BINARY: fake },
    restart: "temporary",
    timeout_ms: 0,
    stall_ms: 0,
  };
  const { id } = await daemon.request<{ id: string }>("agent/spawn", { spec });
  let records = 0;
  let state = "";
  await daemon.watch({ ids: [id], from: 0, follow: false }, (line) => {
    records += 1;
    if (line.includes('"type":"worker_ended"'))
      state = line.includes('"state":"completed"') ? "completed" : "failed";
  });
  const seconds = (performance.now() - before) / 1000;
  const cpu_ms = cpuMs(daemon.pid) - cpu;
  await daemon.stop();
  if (state !== "completed" || records < lines / 2)
    throw new Error(`the run ended ${state} after ${records} records`);
  return { seconds, cpu_ms };
};

const floor = (file: string): number =>
  Number(execFileSync(process.execPath, [join(root, "bench/ingest-floor.ts"), file], { encoding: "utf8" }));

export const ingest = async (): Promise<Result> => {
  const dir = mkdtempSync(join(tmpdir(), "holdfast-ingest-"));
  try {
    const file = join(dir, "transcript.ndjson");
    writeFileSync(file, repeated(LINES));
    const pairs: { ours: number; floor: number }[] = [];
    for (let round = 0; round < ROUNDS; round += 1)
      pairs.push({ floor: floor(file), ours: LINES / (await ingested(file, dir, LINES)).seconds });
    const best = {
      ours: Math.max(...pairs.map((pair) => pair.ours)),
      floor: Math.max(...pairs.map((pair) => pair.floor)),
    };
    const ratio = best.ours / best.floor;
    return {
      name: "input lines/s, spool → durable log, watched",
      measured: `${Math.round(best.ours).toLocaleString("en")} lines/s`,
      floor: `bare loop: ${Math.round(best.floor).toLocaleString("en")} lines/s`,
      value: `${ratio.toFixed(2)} of the floor`,
      threshold: "≥ 0.5",
      ok: ratio >= 0.5,
    };
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
};
