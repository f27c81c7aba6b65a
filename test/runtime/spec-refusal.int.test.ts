/** Refusals before any process, and words before any output (agent-event notes A.4 and A.5). */
import { it } from "@effect/vitest";
import { Effect } from "effect";
import { expect } from "vitest";
import type { AgentAdapter } from "../../src/adapters/adapter.ts";
import { claudeCode } from "../../src/adapters/kinds/claude-code/index.ts";
import { EXTERNAL_SANDBOX, EXTERNAL_SANDBOX_WARNING } from "../../src/protocol/extensions.ts";
import type { WorkerSpecInput } from "../../src/protocol/worker.ts";
import { memoryMachine, nth, spec, until } from "./memory-runtime.ts";

const allowed = {
  ...claudeCode,
  ...claudeCode.configured!({ allow_external_sandbox_exec: true }),
} as unknown as AgentAdapter;
const plain = claudeCode as unknown as AgentAdapter;

const asked = (over: Partial<WorkerSpecInput>) =>
  spec({ kind: "claude_code", argv: [], prompt: "Hi.", restart: "temporary", ...over });

it.effect("a key that is not supported is an error of its own, and nothing is recorded", () =>
  Effect.gen(function* () {
    const machine = yield* memoryMachine;
    const { runtime } = yield* machine.boot({ adapterFor: () => plain });
    const head = machine.log.head();
    const ext = { [EXTERNAL_SANDBOX]: true };
    const error = yield* Effect.flip(runtime.spawn(asked({ ext })));
    expect(error).toMatchObject({ code: "UNSUPPORTED_CAPABILITY", info: { phase: "validation" } });
    const unknown = yield* Effect.flip(
      (yield* machine.boot({ adapterFor: () => undefined })).runtime.spawn(asked({ kind: "nobody", ext })),
    );
    expect(unknown.code).toBe("INVALID_AGENT_KIND");
    expect(machine.memory.runs.length).toBe(0);
    expect(machine.log.head() - head).toBeLessThanOrEqual(1);
  }),
);

it.effect("a directory that is not there is refused by its place, after all else was found right", () =>
  Effect.gen(function* () {
    const machine = yield* memoryMachine;
    const looked: string[] = [];
    const isDirectory = async (path: string) => {
      looked.push(path);
      return path !== "/w/gone";
    };
    const { probe } = machine.services;
    const { runtime } = yield* machine.boot({ adapterFor: () => plain, probe: { ...probe, isDirectory } });
    const ext = { "agent_api.exec.add_dirs.v1": { dirs: ["here", "./here", "gone"] } };
    const error = yield* Effect.flip(runtime.spawn(asked({ cwd: "/w", ext })));
    expect(error).toMatchObject({
      code: "INVALID_REQUEST",
      message: "invalid agent_api.exec.add_dirs.v1.dirs[2]",
    });
    expect(looked).toEqual(["/w/here", "/w/here", "/w/gone"]);
    expect(machine.memory.runs.length).toBe(0);
  }),
);

it.effect(
  "a directory that a sandbox may write to, and that is not there, is refused before anything starts",
  () =>
    Effect.gen(function* () {
      const machine = yield* memoryMachine;
      const { probe } = machine.services;
      const isDirectory = async (path: string) => path === "/w/here";
      const { runtime } = yield* machine.boot({ adapterFor: () => plain, probe: { ...probe, isDirectory } });
      const sandbox = { writable: ["/w/here", "/w/gone"] };
      const error = yield* Effect.flip(runtime.spawn(asked({ cwd: "/w", sandbox })));
      expect(error).toMatchObject({
        code: "INVALID_REQUEST",
        message: "sandbox.writable: /w/gone is not an existing directory.",
        info: { phase: "validation" },
      });
      expect(machine.memory.runs.length).toBe(0);
    }),
);

it.effect("an external sandbox is warned of once an incarnation, before all that its agent prints", () =>
  Effect.gen(function* () {
    const machine = yield* memoryMachine;
    const { runtime } = yield* machine.boot({ adapterFor: () => allowed });
    const { id } = yield* runtime.spawn(asked({ restart: "permanent", ext: { [EXTERNAL_SANDBOX]: true } }));
    const events = () =>
      machine.log
        .stream(id, ["agent.event"])
        .flatMap((one) =>
          one.type === "agent.event" ? [{ incarnation: one.incarnation, payload: one.payload }] : [],
        );
    const warning = (incarnation: number) => ({
      incarnation,
      payload: {
        agent_kind: "claude_code",
        kind: "Status",
        channel: "status",
        message: EXTERNAL_SANDBOX_WARNING,
      },
    });
    const first = yield* nth(machine.memory, 1);
    expect(events()).toEqual([warning(1)]);
    first.print("stdout", "what is this\n");
    yield* until("its line", () => events().length === 2);
    first.exit(1);
    yield* nth(machine.memory, 2);
    const warned = events().filter(({ payload }) => payload.message === EXTERNAL_SANDBOX_WARNING);
    expect(warned).toEqual([warning(1), warning(2)]);
    expect(events().filter(({ incarnation }) => incarnation === 2)[0]).toEqual(warning(2));
  }),
);
