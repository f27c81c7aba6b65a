/** A supervisor that the bench measures, and the parts that all of them share. */
import { spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parentsOfAll, pssKb } from "../inspect.ts";
import { childrenMs } from "../support.ts";

/** One supervisor that runs in a directory of its own, with one fleet of children at most. Ctrl-C reaches the bench alone, which ends it. */
export interface Supervisor {
  /** The process that supervises; helpers are found from it. */
  pid(): number;
  /** Prepares a fleet; the function that it returns starts all of it. A killed child is started again at once and for ever. */
  prepare(argv: readonly string[], count: number): Promise<() => Promise<void>>;
  /** The command by which a user looks at the fleet; undefined where there is none. */
  readonly status?: Command;
  /** Ends it and all its children. */
  stop(): Promise<void>;
}

export interface Peer {
  readonly name: string;
  /** The command that installs it; the project itself brings the others. */
  readonly install?: string;
  isHere(): boolean;
  open(dir: string): Promise<Supervisor>;
}

export interface Command {
  readonly argv: readonly string[];
  readonly env: Record<string, string>;
}

/** No variable of the caller's but where programs are; the home is the peer's own. */
export const minimalEnvironment = (home: string): Record<string, string> => ({
  PATH: `${dirname(process.execPath)}:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin`,
  HOME: home,
  LANG: "C.UTF-8",
});

/** Runs a command to its end; answers its output, and throws where it fails. */
export const run = ({ argv, env }: Command): Promise<string> =>
  new Promise((done, fail) => {
    const [program = "", ...args] = argv;
    const child = spawn(program, args, { env, stdio: ["ignore", "pipe", "pipe"] });
    let [output, errors] = ["", ""];
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      output += text;
    });
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      errors += text;
    });
    child.on("error", fail);
    child.on("close", (code) =>
      code === 0 ? done(output) : fail(new Error(`${argv.join(" ")}: exit ${code}: ${errors}${output}`)),
    );
  });

const isAlive = (pid: number): boolean => {
  try {
    // A zombie is over.
    return !/^\d+ \(.*\) Z/s.test(readFileSync(`/proc/${pid}/stat`, "latin1"));
  } catch {
    return false;
  }
};

const GONE_WITHIN_MS = 30_000;
const LOOK_MS = 20;

export const untilGone = async (pids: readonly number[]): Promise<void> => {
  const deadline = Date.now() + GONE_WITHIN_MS;
  while (pids.some(isAlive)) {
    if (Date.now() > deadline)
      throw new Error(`processes ${pids.filter(isAlive).join(", ")} do not end within ${GONE_WITHIN_MS} ms`);
    await sleep(LOOK_MS);
  }
};

/** The supervisor's process, everything below it and the parents of its children, without the children themselves. */
export const withHelpers = (root: number, children: readonly number[]): readonly number[] => {
  const isChild = new Set(children);
  const parents = parentsOfAll();
  const found = new Set<number>([root]);
  for (const child of children) {
    const parent = parents.get(child) ?? 1;
    if (parent > 1 && parent !== process.pid) found.add(parent);
  }
  for (const above of found)
    for (const [pid, parent] of parents) if (parent === above && !isChild.has(pid)) found.add(pid);
  return [...found];
};

export const pssMb = (pids: readonly number[]): number =>
  pids.reduce((sum, pid) => sum + pssKb(pid), 0) / 1024;

/** Milliseconds that a process, its threads and its children that have ended have run. */
const ranMs = (pid: number): number => {
  const tasks = `/proc/${pid}/task`;
  return readdirSync(tasks).reduce(
    (sum, task) => sum + Number(readFileSync(`${tasks}/${task}/schedstat`, "utf8").split(" ")[0]) / 1e6,
    childrenMs(pid),
  );
};

/** Share of one processor that these processes use together while nothing is asked of them. */
export const idleCpuOf = async (pids: readonly number[], overMs: number): Promise<number> => {
  const ran = () => pids.reduce((sum, pid) => sum + ranMs(pid), 0);
  const [before, since] = [ran(), performance.now()];
  await sleep(overMs);
  return ((ran() - before) / (performance.now() - since)) * 100;
};
