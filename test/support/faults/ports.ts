/**
 * The log and the spawner, whose calls fail as somebody else decides: with a rate for each kind of call, or the n-th call of
 * all. A call that fails has done nothing.
 */
import type { ObservedRun, Run, RuntimeSpawner } from "../../../src/adapters/spawner.ts";
import { HoldfastError } from "../../../src/protocol/errors.ts";
import type { RecordType } from "../../../src/protocol/records.ts";
import type { Store } from "../../../src/store/upkeep.ts";

const READS = [
  "read",
  "readLines",
  "seqAt",
  "byId",
  "checkpoints",
  "worker",
  "workers",
  "living",
  "named",
  "turns",
  "stream",
  "trees",
  "treeStream",
] as const satisfies readonly (keyof Store)[];
const RUN_CALLS = ["signal", "kill", "write", "closeStdin", "sweep", "tail"] as const;

/** A commit of a request fails that request; one of a fact is tried again until the store takes it, and nobody sees it. */
export type Call =
  | "log.commit of a request"
  | "log.commit of a fact"
  | "log.append"
  | `log.${(typeof READS)[number]}`
  | "spawner.launch"
  | "spawner.observe"
  | `run.${(typeof RUN_CALLS)[number]}`;

/** Whether this call fails. */
export type Failing = (call: Call) => boolean;

const OF_REQUESTS: readonly RecordType[] = [
  "worker_spawn_requested",
  "worker_cancel_requested",
  "worker_answered",
  "worker_message",
  "worker_spec_changed",
  "tree_applied",
  "tree_removed",
  "supervisor_asked",
  "supervisor_state_changed",
  "daemon_started",
  "daemon_stopped",
];

const isOfARequest = (drafts: Parameters<Store["commit"]>[0]): boolean =>
  drafts.some(
    (draft) =>
      OF_REQUESTS.includes(draft.type) ||
      (draft.type === "worker_restart_scheduled" && draft.payload.reason === "user"),
  );

const storeFails = () => new HoldfastError("DISK_FULL", "The store of this test fails.");
const spawnerFails = () => new HoldfastError("UNAVAILABLE", "The spawner of this test fails.");

/** `target` with some of its functions replaced; the others keep their own `this`. */
const replaced = <T extends object>(target: T, over: Partial<T>): T =>
  new Proxy(target, {
    get: (from, name) => {
      if (Object.hasOwn(over, name)) return over[name as keyof T];
      const value: unknown = Reflect.get(from, name, from);
      return typeof value === "function" ? value.bind(from) : value;
    },
  });

export const faultyLog = (log: Store, failing: Failing): Store => {
  const reads = Object.fromEntries(
    READS.map((name) => [
      name,
      (...args: unknown[]) => {
        if (failing(`log.${name}`)) throw storeFails();
        return (log[name] as (...args: unknown[]) => unknown)(...args);
      },
    ]),
  ) as Partial<Store>;
  return replaced(log, {
    ...reads,
    append: (drafts, options) => {
      if (failing("log.append")) throw storeFails();
      return log.append(drafts, options);
    },
    commit: async (drafts, options) => {
      if (failing(isOfARequest(drafts) ? "log.commit of a request" : "log.commit of a fact"))
        throw storeFails();
      return log.commit(drafts, options);
    },
  });
};

/** `target` with some of its calls failing. */
const faulty = <T extends object>(
  target: T,
  failing: Failing,
  calls: readonly (keyof T & (typeof RUN_CALLS)[number])[],
): T =>
  replaced(
    target,
    Object.fromEntries(
      calls.map((name) => [
        name,
        async (...args: unknown[]) => {
          if (failing(`run.${name}`)) throw spawnerFails();
          return (target[name] as (...args: unknown[]) => unknown).call(target, ...args);
        },
      ]),
    ) as Partial<T>,
  );

const faultyRun = (run: Run, failing: Failing): Run => {
  const { input, posix } = run;
  return replaced(faulty(run, failing, ["signal", "kill"]), {
    source: (stream) => faulty(run.source(stream), failing, ["tail"]),
    input: input && faulty(input, failing, ["write", "closeStdin"]),
    posix: posix && faulty(posix, failing, ["sweep"]),
  });
};

export const faultySpawner = (spawner: RuntimeSpawner, failing: Failing): RuntimeSpawner =>
  replaced(spawner, {
    launch: async (request) => {
      if (failing("spawner.launch")) throw spawnerFails();
      return faultyRun(await spawner.launch(request), failing);
    },
    observe: async (id): Promise<ObservedRun> => {
      if (failing("spawner.observe")) throw spawnerFails();
      const seen = await spawner.observe(id);
      return "run" in seen ? { ...seen, run: faultyRun(seen.run, failing) } : seen;
    },
  });

/** The n-th call of all that can fail, and no other. */
export const nthCall = (n: number): { readonly failing: Failing; failed(): Call | undefined } => {
  let calls = 0;
  let failed: Call | undefined;
  return {
    failing: (call) => {
      calls += 1;
      if (calls === n) failed = call;
      return calls === n;
    },
    failed: () => failed,
  };
};

/** Calls that have no rate do not fail. */
export const atRates = (rates: Partial<Record<Call, number>>, next: () => number): Failing => {
  return (call) => next() < (rates[call] ?? 0);
};
