/** The runtime of the engine inside a program keeps the duties of every runtime; it lacks pauses, and runs that outlive it. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import {
  type RunBehaviour,
  type RuntimeBench,
  runtimeConformance,
} from "../../src/adapters/runtime-conformance.ts";
import type { AgentEngine, EngineRun } from "../../src/engine/engine.ts";
import { engineRuntime } from "../../src/library/engine-runtime.ts";
import type { EngineLine } from "../../src/protocol/engine-lines.ts";

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => signal.addEventListener("abort", () => resolve()));

/** Its opening is the behaviour, and its lines are whatever JSON it has to print. */
const behave = async ({ opening, inputs, tell, signal }: EngineRun): Promise<void> => {
  const behaviour = opening as unknown as RunBehaviour;
  const print = (json: string): void => tell(JSON.parse(json) as EngineLine);
  switch (behaviour.does) {
    case "prints":
      behaviour.lines.forEach(print);
      if (behaviour.code !== 0) throw new Error("It fails.");
      return;
    case "waits":
      print('"ready"');
      return aborted(signal);
    case "is_deaf":
      print('"ready"');
      return new Promise(() => undefined);
    case "echoes":
      for await (const input of inputs) print(JSON.stringify(input));
  }
};
const engine: AgentEngine = { name: "behaves", run: behave };

const open = async (): Promise<RuntimeBench> => {
  const dir = mkdtempSync(join(tmpdir(), "holdfast-engine-"));
  let newest = engineRuntime({ engine }, dir);
  return {
    runtime: newest,
    failure_code: 1,
    request: (behaviour) => ({ argv: [], cwd: dir, env: {}, opens_with: `${JSON.stringify(behaviour)}\n` }),
    reopen: async () => {
      await newest.close();
      newest = engineRuntime({ engine }, dir);
      return newest;
    },
    close: async () => {
      await newest.close();
      rmSync(dir, { recursive: true, force: true });
    },
  };
};

describe("runs in this program", () => {
  const cases = runtimeConformance(open, { lacks: ["pause", "outliving"] });
  for (const { title, check } of cases) test(title, check);

  test("have their lacks in the titles of the cases", () => {
    const lacks = cases.flatMap(({ title }) => /declared lack: (.*)\)/.exec(title)?.[1] ?? []);
    expect(new Set(lacks)).toEqual(new Set(["no run can be paused", "runs end with their daemon"]));
  });
});
