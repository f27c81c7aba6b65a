/** The runtime in memory keeps the duties of every runtime; a runtime that breaks one is found. */
import { describe, expect, test } from "vitest";
import {
  type RunBehaviour,
  type RuntimeBench,
  runtimeConformance,
} from "../../src/adapters/runtime-conformance.ts";
import type { RuntimeSpawner } from "../../src/adapters/spawner.ts";
import { type MemoryRun, makeMemorySpawner } from "../../src/library/memory-spawner.ts";

const begin = (run: MemoryRun, behaviour: RunBehaviour): void => {
  if (behaviour.does === "waits" || behaviour.does === "is_deaf") run.print("stdout", "ready\n");
  if (behaviour.does !== "prints") return;
  for (const line of behaviour.lines) run.print("stdout", `${line}\n`);
  run.exit(behaviour.code);
};

const behaviourOf = ({ request }: MemoryRun): RunBehaviour => JSON.parse(request.argv[0]!);

/** `lying` changes the runtime as its next daemon has it. */
const open = async (
  lying: (honest: RuntimeSpawner) => RuntimeSpawner = (one) => one,
): Promise<RuntimeBench> => {
  const memory = makeMemorySpawner();
  let echoed = 0;
  memory.onSignal = (run, signal) => {
    if (signal === "SIGKILL" || behaviourOf(run).does !== "is_deaf") run.exit(signal);
  };
  memory.onInput = (run) => {
    run.print("stdout", run.stdin.slice(echoed));
    echoed = run.stdin.length;
    if (run.stdinEnded) run.exit(0);
  };
  const runtime = lying({
    ...memory.spawner,
    launch: async (request) => {
      const run = await memory.spawner.launch(request);
      const handle = memory.runs.at(-1)!;
      setImmediate(() => begin(handle, behaviourOf(handle)));
      return run;
    },
  });
  return {
    runtime,
    request: (behaviour) => ({ argv: [JSON.stringify(behaviour)], cwd: "/", env: {} }),
    reopen: async () => runtime,
    close: () => runtime.close(),
  };
};

describe("runs in memory", () => {
  for (const { title, check } of runtimeConformance(() => open())) test(title, check);
});

const caseOf = (title: RegExp, lying: (honest: RuntimeSpawner) => RuntimeSpawner) =>
  runtimeConformance(() => open(lying)).find((one) => title.test(one.title))!;

describe("a runtime that lies is found", () => {
  test("by an ended run that runs again", async () => {
    const { check } = caseOf(/^terminal/, (honest) => ({
      ...honest,
      observe: async (id) => {
        const seen = await honest.observe(id);
        return seen.kind === "finished" ? { kind: "running", run: seen.run } : seen;
      },
    }));
    await expect(check()).rejects.toThrow("a run that has ended is observed as running");
  });

  test("by a run that starts twice", async () => {
    let count = 1;
    const { check } = caseOf(/second launch/, (honest) => ({
      ...honest,
      launch: (request) => honest.launch({ ...request, incarnation: count++ }),
    }));
    await expect(check()).rejects.toThrow("a second launch of the same run succeeded");
  });

  test("by a living run that it forgets", async () => {
    const { check } = caseOf(/^observation: the next/, (honest) => ({
      ...honest,
      observe: async () => ({ kind: "never_started" }),
    }));
    await expect(check()).rejects.toThrow("a living run is observed as never_started");
  });

  test("by output that it loses", async () => {
    const { check } = caseOf(/^output: every byte/, (honest) => ({
      ...honest,
      launch: async (request) => {
        const run = await honest.launch(request);
        return { ...run, source: () => run.source("stderr") };
      },
    }));
    await expect(check()).rejects.toThrow("Expected values to be strictly equal");
  });
});
