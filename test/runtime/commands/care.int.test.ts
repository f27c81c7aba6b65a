/** Other names, archived workers, and what a prune removes and leaves. */
import { it } from "@effect/vitest";
import { Effect } from "effect";
import { expect } from "vitest";
import { memoryMachine, nth, settled, spec } from "../memory-runtime.ts";

const temporary = (name: string) => spec({ name, restart: "temporary", labels: { of: name } });
const ASKED = { limit: 500, dry_run: false };
const namesOf = (workers: readonly { readonly name: string | null }[]) => workers.map(({ name }) => name);

it.effect("a worker has its new name everywhere, over a restart and a crash, and its old one is free", () =>
  Effect.gen(function* () {
    const machine = yield* memoryMachine;
    const first = yield* machine.boot();
    const { id } = yield* first.runtime.spawn(spec({ name: "fixer" }));
    yield* first.runtime.spawn(spec({ name: "reader" }));
    yield* nth(machine.memory, 2);
    const taken = yield* Effect.flip(first.runtime.rename("fixer", "reader"));
    expect(taken.code).toBe("ALREADY_EXISTS");
    expect(yield* first.runtime.rename("fixer", "login")).toEqual({
      id,
      name: "login",
      before: "fixer",
      effect: "updated",
    });
    expect((yield* first.runtime.rename("login", "login")).effect).toBe("noop");
    expect(yield* first.runtime.resolve("login")).toBe(id);
    expect((yield* Effect.flip(first.runtime.info("fixer"))).code).toBe("WORKER_NOT_FOUND");
    expect((yield* first.runtime.info(id)).spec.name).toBe("login");
    // The old name is free again, and the new one is not.
    yield* first.runtime.spawn(spec({ name: "fixer" }));
    expect((yield* Effect.flip(first.runtime.spawn(spec({ name: "login" })))).code).toBe("ALREADY_EXISTS");
    yield* first.crash;

    const second = yield* machine.boot();
    expect(yield* second.runtime.resolve("login")).toBe(id);
    expect((yield* Effect.flip(second.runtime.spawn(spec({ name: "login" })))).code).toBe("ALREADY_EXISTS");
    yield* second.runtime.kill({ ids: ["login"] });
    yield* second.runtime.restart(["login"]);
    expect((yield* second.runtime.info(id)).name).toBe("login");
    expect(machine.typesOf(id)).toContain("worker_renamed");
  }),
);

it.effect("an archived worker is in no list but one, and is listed again once it is started", () =>
  Effect.gen(function* () {
    const machine = yield* memoryMachine;
    const { runtime } = yield* machine.boot();
    yield* runtime.spawn(temporary("done"));
    yield* runtime.spawn(temporary("works"));
    (yield* nth(machine.memory, 1)).exit(0);
    yield* settled;
    const [done, works] = yield* runtime.archive(["done", "works"]);
    expect(done).toMatchObject({ ok: true, effect: "updated" });
    expect(works).toMatchObject({ ok: false, error: { code: "INVALID_STATE" } });
    expect((yield* runtime.archive(["done"]))[0]?.effect).toBe("noop");
    expect(namesOf(yield* runtime.list({ all: true }))).toEqual(["works"]);
    expect(namesOf(yield* runtime.list({ statuses: ["completed"] }))).toEqual([]);
    expect(namesOf(yield* runtime.list({ archived: true }))).toEqual(["done"]);
    expect((yield* runtime.info("done")).archived).toBe(true);

    yield* runtime.archive(["done"], { undo: true });
    expect(namesOf(yield* runtime.list({ all: true }))).toEqual(["done", "works"]);
    yield* runtime.archive(["done"]);
    yield* runtime.restart(["done"]);
    yield* settled;
    expect(namesOf(yield* runtime.list())).toEqual(["done", "works"]);
  }),
);

it.effect("a prune takes ended workers that match, says what it would take, and goes by pages", () =>
  Effect.gen(function* () {
    const machine = yield* memoryMachine;
    const { runtime } = yield* machine.boot();
    for (const name of ["a", "b", "c", "lives"]) yield* runtime.spawn(temporary(name));
    for (const n of [1, 2]) (yield* nth(machine.memory, n)).exit(0);
    (yield* nth(machine.memory, 3)).exit(1);
    yield* settled;

    const planned = yield* runtime.prune({ ...ASKED, dry_run: true });
    expect(planned).toMatchObject({ effect: "would_delete", freed_bytes: 300, kept: [] });
    expect(namesOf(planned.workers)).toEqual(["a", "b", "c"]);
    expect(namesOf((yield* runtime.prune({ ...ASKED, dry_run: true, labels: { of: "b" } })).workers)).toEqual(
      ["b"],
    );
    expect(
      namesOf((yield* runtime.prune({ ...ASKED, dry_run: true, statuses: ["failed"] })).workers),
    ).toEqual(["c"]);

    const first = yield* runtime.prune({ ...ASKED, limit: 2 });
    expect(namesOf(first.workers)).toEqual(["a", "b"]);
    const rest = yield* runtime.prune({ ...ASKED, limit: 2, cursor: first.cursor });
    expect(namesOf(rest.workers)).toEqual(["c"]);
    expect(rest.cursor).toBeUndefined();
    expect(yield* runtime.prune(ASKED)).toMatchObject({ effect: "noop", workers: [] });

    expect(namesOf(yield* runtime.list({ all: true }))).toEqual(["lives"]);
    expect(machine.specs.size).toBe(1);
    const gone = yield* runtime.restart(["a"]);
    expect(gone[0]).toMatchObject({ ok: false, error: { code: "INVALID_STATE" } });
    // Its records stay.
    expect((yield* runtime.info("a")).status).toBe("completed");
  }),
);

it.effect("a worker that ended a short while ago stays until it is old enough", () =>
  Effect.gen(function* () {
    const machine = yield* memoryMachine;
    const { runtime } = yield* machine.boot();
    yield* runtime.spawn(temporary("a"));
    (yield* nth(machine.memory, 1)).exit(0);
    yield* settled;
    // The log has the time of the machine, which is far after that of the test.
    const asked = { ...ASKED, ended_before_ms: 3_600_000 };
    expect(yield* runtime.prune(asked)).toMatchObject({ effect: "noop", workers: [] });
  }),
);
