/** A search as a user of the runtime sees it: hits with the names of workers, pages by cursor, and what is refused. */
import { it } from "@effect/vitest";
import { Effect } from "effect";
import { expect } from "vitest";
import { memoryMachine, nth, settled, spec } from "../memory-runtime.ts";

const ASKED = { workers: [], types: [], limit: 50 };

it.effect("hits name their worker, go by pages, and keep to the workers that are asked for", () =>
  Effect.gen(function* () {
    const machine = yield* memoryMachine;
    const { runtime } = yield* machine.boot();
    yield* runtime.spawn(spec({ name: "fixer", restart: "temporary" }));
    yield* runtime.spawn(spec({ name: "reader", restart: "temporary" }));
    const [fixer, reader] = [yield* nth(machine.memory, 1), yield* nth(machine.memory, 2)];
    fixer.print("stdout", "connection refused\nconnection closed\n");
    yield* settled;
    reader.print("stdout", "the connection is open\n");
    yield* settled;

    const all = yield* runtime.search({ ...ASKED, text: "connection" });
    expect(all.hits.map(({ worker_name, text }) => `${worker_name}: ${text.trim()}`)).toEqual([
      "reader: the connection is open",
      "fixer: connection closed",
      "fixer: connection refused",
    ]);
    expect(all.hits[0]).toMatchObject({ kind: "TextOutput", incarnation: 1, marks: [[4, 14]] });
    expect(all.cursor).toBeUndefined();

    const first = yield* runtime.search({ ...ASKED, text: "connection", limit: 1 });
    expect(first.hits).toEqual(all.hits.slice(0, 1));
    const rest = yield* runtime.search({ ...ASKED, text: "connection", cursor: first.cursor });
    expect(rest.hits).toEqual(all.hits.slice(1));

    const ofFixer = yield* runtime.search({ ...ASKED, text: "connection", workers: ["fixer"] });
    expect(ofFixer.hits).toEqual(all.hits.slice(1));
    const nobody = yield* Effect.flip(runtime.search({ ...ASKED, text: "a", workers: ["nobody"] }));
    expect(nobody.code).toBe("WORKER_NOT_FOUND");
    const lost = yield* Effect.flip(runtime.search({ ...ASKED, text: "a", cursor: "elsewhere:3" }));
    expect(lost.code).toBe("CURSOR_UNKNOWN");
  }),
);
