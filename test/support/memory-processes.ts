/** The runs of a memory spawner, each with the processes that it would have on a machine: for tests of what only these have. */
import type { RunProcesses } from "../../src/adapters/posix.ts";
import type { ObservedRun, Run, RunId, RuntimeSpawner, SignalReport } from "../../src/adapters/spawner.ts";

const SWEPT = { method: "pid_namespace", unreadable: 0, survivors: [], killed: 0 } as const;

export const withProcesses = (spawner: RuntimeSpawner): RuntimeSpawner => {
  const pids = new Map<string, number>();
  const pidOf = ({ worker_id, incarnation }: RunId): number => {
    const key = `${worker_id}/${incarnation}`;
    const pid = pids.get(key) ?? pids.size + 1;
    pids.set(key, pid);
    return pid;
  };
  const shaped = (run: Run, env: Readonly<Record<string, string>>): Run => {
    const pid = pidOf(run);
    const reaching = async (reached: Promise<SignalReport>): Promise<SignalReport> =>
      (await reached) === "run" ? [pid] : [];
    const identity = { pid, start_time: String(pid), boot_id: "memory", pid_ns: "memory" };
    const posix: RunProcesses = {
      agent: identity,
      launcher: identity,
      pgid: pid,
      sweep: async () => SWEPT,
      variables: (names) => Object.fromEntries(Object.entries(env).filter(([name]) => names.includes(name))),
      resources: () => undefined,
    };
    return {
      ...run,
      ref: undefined,
      posix,
      signal: (signal) => reaching(run.signal(signal)),
      kill: () => reaching(run.kill()),
      pause: () => reaching(run.pause!()),
      unpause: () => reaching(run.unpause!()),
    };
  };
  const environments = new Map<number, Readonly<Record<string, string>>>();
  return {
    ...spawner,
    backend_kind: "subprocess",
    launch: async (request) => {
      environments.set(pidOf(request), request.env);
      return shaped(await spawner.launch(request), request.env);
    },
    observe: async (id): Promise<ObservedRun> => {
      const seen = await spawner.observe(id);
      return "run" in seen ? { ...seen, run: shaped(seen.run, environments.get(pidOf(id)) ?? {}) } : seen;
    },
    living: async () => (await spawner.living()).map((run) => ({ ...run, pids: [pidOf(run)] })),
    posix: {
      originOf: () => ({ type: "outside" }),
      originIn: () => ({ type: "outside" }),
      look: async () => undefined,
      polled: () => 0,
      ticked: () => undefined,
    },
  };
};
