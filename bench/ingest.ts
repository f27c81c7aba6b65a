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
import { type BenchDaemon, environment, type Result, root, startDaemon, transcript } from "./support.ts";

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

/** One run of an agent that prints the file's `lines`, watched to its end. */
const oneRun = async (daemon: BenchDaemon, file: string, dir: string, lines: number): Promise<Ingested> => {
  const fake = join(dir, "claude");
  writeFileSync(fake, `#!/bin/sh\nexec cat ${file}\n`);
  chmodSync(fake, 0o755);
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
  const { head } = await daemon.request<{ head: number }>("daemon/status", {});
  const { id } = await daemon.request<{ id: string }>("agent/spawn", { spec });
  let records = 0;
  let state = "";
  await daemon.watch({ ids: [id], from: head, follow: false }, (line) => {
    records += 1;
    if (line.includes('"type":"worker_ended"'))
      state = line.includes('"state":"completed"') ? "completed" : "failed";
  });
  const seconds = (performance.now() - before) / 1000;
  const cpu_ms = cpuMs(daemon.pid) - cpu;
  if (state !== "completed" || records < lines / 2)
    throw new Error(`the run ended ${state} after ${records} records`);
  return { seconds, cpu_ms };
};

interface IngestedFile {
  readonly file: string;
  readonly dir: string;
  readonly lines: number;
  readonly env?: Record<string, string>;
  /** A file whose lines the same daemon takes first, unmeasured. */
  readonly warm?: { readonly file: string; readonly lines: number };
}

/** A run in a daemon of its own: seconds, and the daemon's processor time. */
export const ingested = async ({ file, dir, lines, env, warm }: IngestedFile): Promise<Ingested> => {
  const daemon = await startDaemon(env);
  if (warm !== undefined) await oneRun(daemon, warm.file, dir, warm.lines);
  const run = await oneRun(daemon, file, dir, lines);
  await daemon.stop();
  return run;
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
      pairs.push({ floor: floor(file), ours: LINES / (await ingested({ file, dir, lines: LINES })).seconds });
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
