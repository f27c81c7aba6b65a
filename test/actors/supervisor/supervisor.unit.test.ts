/** A supervisor's fiber over fibers of workers that do as the test says. */
import { it } from "@effect/vitest";
import { Effect, Exit, Scope } from "effect";
import { expect } from "vitest";
import type { Defects } from "../../../src/actors/defects.ts";
import {
  type SupervisedWorker,
  Supervisor,
  type WorkerFiberEnd,
} from "../../../src/actors/supervisor/supervisor.ts";

const makeWorld = Effect.gen(function* () {
  const scope = yield* Scope.make();
  const defects: string[] = [];
  const services = { defects: { tell: (where: string) => defects.push(where) } as unknown as Defects };
  const root = new Supervisor("root", scope, Effect.runForkWith(yield* Effect.context<never>()), services);
  const seen: string[] = [];
  const worker = (
    id: string,
    over: Partial<SupervisedWorker> = {},
  ): SupervisedWorker & { end: () => void } => {
    let end = (): void => undefined;
    return {
      id,
      live: () =>
        Effect.onInterrupt(
          Effect.callback<void>((resume) => {
            end = () => resume(Effect.void);
          }),
          () => Effect.sync(() => seen.push(`${id} let go`)),
        ),
      abandon: (defect) => Effect.sync(() => void seen.push(`${id} abandoned: ${String(defect)}`)),
      end: () => end(),
      ...over,
    };
  };
  const onEnd = ({ id }: SupervisedWorker, { type }: WorkerFiberEnd) => void seen.push(`${id} ${type}`);
  return { root, scope, seen, defects, worker, onEnd };
});

it.effect("tells the end of each worker once, and shows the fibers that live", () =>
  Effect.gen(function* () {
    const { root, seen, worker, onEnd } = yield* makeWorld;
    const one = worker("one");
    root.start(one, onEnd);
    const crew = root.below("crew");
    crew.start(worker("two"), onEnd);
    expect(root.view()).toMatchObject({
      name: "root",
      children: [{ name: "crew", children: [{ name: "two" }] }, { name: "one" }],
    });
    expect(root.isIdle()).toBe(false);
    one.end();
    expect(seen).toEqual(["one over"]);
    crew.end();
    expect(seen).toEqual(["one over", "two let go"]);
    expect([root.isIdle(), root.view().children]).toEqual([true, []]);
  }),
);

it.effect("a worker's defect is handled here, and no sibling is touched", () =>
  Effect.gen(function* () {
    const { root, seen, defects, worker, onEnd } = yield* makeWorld;
    root.start(worker("well"), onEnd);
    root.start(worker("ill", { live: () => Effect.die(new TypeError("boom")) }), onEnd);
    expect(seen).toEqual(["ill abandoned: TypeError: boom", "ill over"]);
    const worse = { live: () => Effect.die("boom"), abandon: () => Effect.die(new RangeError("worse")) };
    root.start(worker("worse", worse), onEnd);
    expect(seen.slice(2)).toEqual(["worse unrecorded"]);
    expect(root.view().children.map(({ name }) => name)).toEqual(["well"]);
    expect(defects).toEqual([]);
  }),
);

it.effect("one last resort that takes its time holds up no other", () =>
  Effect.gen(function* () {
    const { root, seen, worker, onEnd } = yield* makeWorld;
    const ill = { live: () => Effect.die("boom") };
    root.start(worker("slow", { ...ill, abandon: () => Effect.never }), onEnd);
    root.start(worker("quick", ill), onEnd);
    expect(seen).toEqual(["quick abandoned: boom", "quick over"]);
  }),
);

it.effect("lets go of every worker below it where its scope is closed, or on request", () =>
  Effect.gen(function* () {
    const { root, scope, seen, worker, onEnd } = yield* makeWorld;
    root.start(worker("one"), onEnd);
    root.below("crew").below("crew.inner").start(worker("two"), onEnd);
    root.letGoOfAll();
    expect(seen).toEqual(["two let go", "two let_go", "one let go", "one let_go"]);
    root.start(worker("three"), onEnd);
    yield* Scope.close(scope, Exit.void);
    expect(seen.slice(4)).toEqual(["three let go"]);
  }),
);

it.effect("hears thousands of exits that come at once", () =>
  Effect.gen(function* () {
    const { root, seen, worker, onEnd } = yield* makeWorld;
    const all = Array.from({ length: 3_000 }, (_, n) => worker(`w${n}`));
    for (const one of all) root.start(one, onEnd);
    for (const one of all) one.end();
    yield* Effect.promise(() => new Promise((resolve) => setImmediate(resolve)));
    expect(seen.length).toBe(all.length);
    root.start(worker("next"), onEnd);
    expect(root.view().children.map(({ name }) => name)).toEqual(["next"]);
  }),
);
