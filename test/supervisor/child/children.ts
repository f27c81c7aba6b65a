/** Children, exits and instants for the tests of the pure supervisor. */
import type { IncarnationOutcome, RunExit } from "../../../src/protocol/incarnation.ts";
import { WorkerSpec, type WorkerSpecInput } from "../../../src/protocol/worker.ts";
import { decide } from "../../../src/supervisor/child/decide.ts";
import { evolve, newChild } from "../../../src/supervisor/child/evolve.ts";
import type { ChildCommand, ChildInput, ChildState } from "../../../src/supervisor/child/inputs.ts";
import type { Now } from "../../../src/supervisor/clocks/now.ts";

export const spec = (over: Partial<WorkerSpecInput> = {}): WorkerSpec =>
  WorkerSpec.parse({
    kind: "command",
    argv: ["true"],
    cwd: "/",
    restart: "permanent",
    backoff_min_ms: 0,
    backoff_max_ms: 0,
    ...over,
  });

export const at = (mono_ms: number): Now => ({
  mono_ms,
  clock: { boot_id: "boot", mono_ns: String(mono_ms * 1_000_000) },
  random: 0,
  wall: { ms: mono_ms, zone: "UTC" },
});

export const exitedWith = (code: number): Extract<ChildInput, { type: "exited" }> => {
  const exit: RunExit = {
    exit_code: code,
    signal: null,
    signal_inferred: false,
    raw_status: code,
    reason: "exited",
  };
  const outcome: IncarnationOutcome =
    code === 0
      ? { status: "completed", completion: { status: { code, signal: null } } }
      : {
          status: "failed",
          completion: { status: { code, signal: null } },
          error: { code: "AGENT_FAILED", message: `exited with ${code}` },
        };
  return { type: "exited", exit, outcome, duration_ms: 1 };
};

/** Feeds inputs to one child and folds what it decides: a supervisor on a test clock. */
export const drive = (given: WorkerSpec) => {
  let child: ChildState = newChild("W", given);
  const types: string[] = [];
  const feed = (input: ChildInput, now: number): readonly ChildCommand[] => {
    const { events, commands } = decide(child, input, at(now));
    for (const event of events) {
      types.push(event.type);
      child = evolve(child, event, now);
    }
    return commands;
  };
  return {
    child: () => child,
    types,
    feed,
    /** One whole incarnation that ends so; answers what the supervisor commands. */
    run: (how: number | Extract<ChildInput, { type: "exited" }>, now: number) => {
      feed({ type: "begin", incarnation: child.incarnation + 1, reason: "test" }, now);
      return feed(typeof how === "number" ? exitedWith(how) : how, now)[0];
    },
  };
};
