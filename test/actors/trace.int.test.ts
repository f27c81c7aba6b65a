import { describe, expect, it } from "@effect/vitest";
import { Effect, Tracer } from "effect";
import { tracing } from "../../src/actors/trace.ts";
import { memoryMachine, nth, settled, spec } from "../runtime/memory-runtime.ts";

interface Seen {
  readonly name: string;
  readonly input: unknown;
  readonly events: readonly string[];
}

/** A tracer that keeps its spans. */
const makeTracer = () => {
  const spans: Tracer.NativeSpan[] = [];
  const tracer = Tracer.make({
    span: (options) => {
      const span = new Tracer.NativeSpan(options);
      spans.push(span);
      return span;
    },
  });
  return { spans, tracer };
};

describe("a tracer around the runtime", () => {
  it.effect("gets a span a decision, with an event for each record that it wrote", () =>
    Effect.gen(function* () {
      const { spans, tracer } = makeTracer();
      const trace = yield* Effect.provideService(tracing, Tracer.Tracer, tracer);
      const { memory, boot, log } = yield* memoryMachine;
      const { runtime } = yield* boot({ trace });
      const { id } = yield* runtime.spawn(spec({ restart: "temporary" }));
      (yield* nth(memory, 1)).exit(0);
      yield* settled;
      const seen = spans.map(
        (span): Seen => ({
          name: span.name,
          input: span.attributes.get("holdfast.input"),
          events: span.events.map(([name]) => name),
        }),
      );
      expect(seen).toEqual([
        { name: "holdfast.supervisor.decide", input: "begin", events: ["worker_state_changed"] },
        {
          name: "holdfast.supervisor.decide",
          input: "launched",
          events: ["worker_spawned", "worker_started", "worker_state_changed"],
        },
        {
          name: "holdfast.supervisor.decide",
          input: "exited",
          events: ["worker_exited", "worker_completed", "worker_ended"],
        },
      ]);
      const decided = seen.flatMap(({ events }) => events);
      const recorded = log.stream(id).map(({ type }) => type);
      expect(recorded.filter((type) => type !== "worker_spawn_requested")).toEqual(decided);
    }),
  );

  it.effect("gets a span for each phase of a worker's life", () =>
    Effect.gen(function* () {
      const { spans, tracer } = makeTracer();
      const life = Effect.gen(function* () {
        const { memory, boot } = yield* memoryMachine;
        const { runtime } = yield* boot();
        const { id } = yield* runtime.spawn(spec());
        yield* nth(memory, 1);
        yield* settled;
        yield* runtime.kill({ ids: [id] });
        return id;
      });
      const id = yield* Effect.provideService(life, Tracer.Tracer, tracer);
      const phases = spans.filter(({ name }) => name.startsWith("holdfast.worker."));
      expect(phases.map(({ name }) => name)).toEqual([
        "holdfast.worker.launch",
        "holdfast.worker.stop",
        "holdfast.worker.settle",
      ]);
      expect(phases.every(({ attributes }) => attributes.get("holdfast.worker.id") === id)).toBe(true);
    }),
  );

  it.effect("is not asked for where there is none", () =>
    Effect.map(tracing, (trace) => expect(trace).toBeUndefined()),
  );
});
