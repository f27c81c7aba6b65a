/**
 * `agent top` on a pseudo-terminal of 50 rows over 200 workers of which 20 talk, beside the same while nobody talks: what it
 * takes, and what it writes at rest.
 */
import { spawn } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { childrenOf, cpuMs, rssKb } from "./inspect.ts";
import { agentBin, type BenchDaemon, command, environment, type Result, startDaemon } from "./support.ts";

const WORKERS = 200;
const TALKERS = 20;
const TALKS = ["sh", "-c", "while :; do echo a line of some words; sleep 0.2; done"];
const SETTLING_MS = 8_000;
const MEASURED_MS = 15_000;
const CORE_MAX = 0.03;
const RSS_MAX_MB = 70;

/** The command on its pseudo-terminal, and the bytes that it has written. */
const onTerminal = async (dir: string) => {
  const line = `stty rows 50 cols 200; exec '${process.execPath}' '${agentBin}' top`;
  const script = spawn("script", ["-qefc", line, "/dev/null"], {
    env: { ...environment(), HOLDFAST_HOME: dir, TERM: "xterm-256color" },
    stdio: ["pipe", "pipe", "ignore"],
  });
  let written = 0;
  script.stdout.on("data", (bytes: Buffer) => {
    written += bytes.length;
  });
  await sleep(SETTLING_MS);
  const [pid] = childrenOf(script.pid as number);
  if (pid === undefined) throw new Error("agent top did not start.");
  const measured = async () => {
    const [cpu, bytes] = [cpuMs(pid), written];
    await sleep(MEASURED_MS);
    return { share: (cpuMs(pid) - cpu) / MEASURED_MS, rssMb: rssKb(pid) / 1024, bytes: written - bytes };
  };
  const leave = async (): Promise<void> => {
    script.stdin.write("q");
    await new Promise((done) => script.once("close", done));
  };
  return { measured, leave };
};

const spawnEach = (daemon: BenchDaemon, count: number, argv: readonly string[]) =>
  Promise.all(Array.from({ length: count }, () => daemon.request("agent/spawn", command(argv))));

export const top = async (): Promise<Result> => {
  const daemon = await startDaemon();
  try {
    await spawnEach(daemon, WORKERS - TALKERS, ["sleep", "100000"]);
    const screen = await onTerminal(daemon.dir);
    const rest = await screen.measured();
    await spawnEach(daemon, TALKERS, TALKS);
    await sleep(SETTLING_MS);
    const busy = await screen.measured();
    await screen.leave();
    const percent = (share: number): string => `${(100 * share).toFixed(1)} % of a core`;
    return {
      name: `\`agent top\`: ${WORKERS} rows, ${TALKERS} that talk`,
      floor: `nobody talks: ${percent(rest.share)}, ${rest.bytes} bytes written`,
      measured: `${percent(busy.share)}, ${busy.rssMb.toFixed(0)} MB, ${(busy.bytes / (MEASURED_MS / 1_000)).toFixed(0)} bytes/s`,
      value: `${percent(busy.share - rest.share)} more`,
      threshold: `≤ ${100 * CORE_MAX} % of a core, ≤ ${RSS_MAX_MB} MB; at rest 0 bytes`,
      ok: busy.share <= CORE_MAX && busy.rssMb <= RSS_MAX_MB && rest.bytes === 0,
    };
  } finally {
    await daemon.stop();
  }
};
