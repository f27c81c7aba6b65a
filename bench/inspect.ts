/** A daemon seen from outside: its memory after a garbage collection, its processor time, its descriptors; what the benches and the soak look at. */
import { readdirSync, readFileSync } from "node:fs";

/** Inspects `node --inspect=127.0.0.1:PORT`: one garbage collection that leaves nothing for the next, then what an expression gives. */
export const makeInspector = (port: number) => {
  const calls = async (methods: readonly (readonly [string, object])[]): Promise<unknown[]> => {
    const [target] = (await (await fetch(`http://127.0.0.1:${port}/json/list`)).json()) as {
      webSocketDebuggerUrl: string;
    }[];
    const socket = new WebSocket((target as { webSocketDebuggerUrl: string }).webSocketDebuggerUrl);
    await new Promise((done) => socket.addEventListener("open", done, { once: true }));
    const results: unknown[] = [];
    for (const [id, [method, params]] of methods.entries()) {
      const answered = new Promise<unknown>((done) =>
        socket.addEventListener("message", ({ data }) => done(JSON.parse(String(data)).result), {
          once: true,
        }),
      );
      socket.send(JSON.stringify({ id: id + 1, method, params }));
      results.push(await answered);
    }
    socket.close();
    return results;
  };
  return {
    collect: async (): Promise<void> => {
      await calls(Array.from({ length: 3 }, () => ["HeapProfiler.collectGarbage", {}] as const));
    },
    evaluate: async <T>(expression: string): Promise<T> => {
      const [answer] = await calls([["Runtime.evaluate", { expression, returnByValue: true }]]);
      return (answer as { result: { value: T } }).result.value;
    },
  };
};

const kilobytes = (text: string, field: string): number =>
  Number(new RegExp(`^${field}:\\s+(\\d+) kB`, "m").exec(text)?.[1] ?? 0);

export const rssKb = (pid: number): number => kilobytes(readFileSync(`/proc/${pid}/status`, "utf8"), "VmRSS");

/** Shared pages are counted once over all who share them: what a process costs beside its likes. */
export const pssKb = (pid: number): number =>
  kilobytes(readFileSync(`/proc/${pid}/smaps_rollup`, "utf8"), "Pss");

/** Memory that no file backs and nobody shares: it does not depend on how many other processes run the same Node. */
export const ownKb = (pid: number): number =>
  kilobytes(readFileSync(`/proc/${pid}/smaps_rollup`, "utf8"), "Pss_Anon");

export const openFiles = (pid: number): number => readdirSync(`/proc/${pid}/fd`).length;

const TICK_MS = 10;

const statFields = (pid: number): string[] => {
  const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
  return stat.slice(stat.lastIndexOf(")") + 2).split(" ");
};

/** User and system time of a process and its threads, in steps of 10 ms. */
export const cpuMs = (pid: number): number => {
  const fields = statFields(pid);
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
};

export const parentOf = (pid: number): number => Number(statFields(pid)[1]);

/** The parent of each process of the machine, by its pid. */
export const parentsOfAll = (): ReadonlyMap<number, number> => {
  const parents = new Map<number, number>();
  for (const pid of readdirSync("/proc").map(Number).filter(Number.isInteger))
    try {
      parents.set(pid, parentOf(pid));
    } catch {
      // It has ended since.
    }
  return parents;
};

export const childrenOf = (parent: number): number[] =>
  [...parentsOfAll()].filter(([, above]) => above === parent).map(([pid]) => pid);

/** Share of one processor over a time in which nothing is asked of it. */
export const idleCpu = async (pid: number, overMs: number): Promise<number> => {
  const [cpu, at] = [cpuMs(pid), performance.now()];
  await new Promise((done) => setTimeout(done, overMs));
  return ((cpuMs(pid) - cpu) / (performance.now() - at)) * 100;
};

export interface Line {
  readonly slope: number;
  /** Standard error of the slope: what noise alone may make of it. */
  readonly error: number;
}

/** Least squares. */
export const lineThrough = (points: readonly (readonly [number, number])[]): Line => {
  const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const [x, y] = [mean(points.map(([at]) => at)), mean(points.map(([, value]) => value))];
  const spread = points.reduce((sum, [a]) => sum + (a - x) ** 2, 0);
  const slope = points.reduce((sum, [a, b]) => sum + (a - x) * (b - y), 0) / spread;
  const left = points.reduce((sum, [a, b]) => sum + (b - y - slope * (a - x)) ** 2, 0);
  return { slope, error: Math.sqrt(left / Math.max(1, points.length - 2) / spread) };
};
