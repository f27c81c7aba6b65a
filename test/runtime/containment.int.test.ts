/** Promise R36, at every callback that is somebody else's: a throw is contained, counted and recorded, and a sibling goes on. */
import { it } from "@effect/vitest";
import { Effect } from "effect";
import { describe, expect } from "vitest";
import type { Services } from "../../src/actors/ports.ts";
import type { RecordDraft } from "../../src/protocol/records.ts";
import type { EventLog } from "../../src/store/event-log.ts";
import { figure } from "../support/figures.ts";
import { elapse, memoryMachine, nth, settled, spec, until } from "./memory-runtime.ts";

const boom = (): never => {
  throw new TypeError("boom");
};

/** The log, with a projection that cannot fold what the worker `bad` says. */
const withBadProjection = (log: EventLog): EventLog => {
  const isBad = ({ type, payload }: RecordDraft) =>
    type === "agent.event" && payload.text?.includes("unfoldable") === true;
  return {
    ...log,
    commit: (drafts, options) =>
      drafts.some(isBad) ? Promise.reject(new TypeError("boom")) : log.commit(drafts, options),
  };
};

/** The part that breaks; whether the worker `bad`, which prints a line, is lost by it. */
const CALLBACKS: readonly (readonly [
  name: string,
  over: (services: Services) => Partial<Services>,
  lost: boolean,
])[] = [
  ["a projection", ({ log }) => ({ log: withBadProjection(log) }), true],
  ["the tracer", () => ({ trace: boom }), false],
  ["the clock of the machine, on the tick", clocks, false],
  [
    "a listener of the log",
    ({ log }) => {
      log.onCommit(boom);
      return {};
    },
    false,
  ],
];

/** It throws after the boot: nothing starts on a machine that cannot be read. */
function clocks({ machine }: Services): Partial<Services> {
  let looks = 0;
  return { machine: { ...machine, uptimeMs: () => (++looks > 1 ? boom() : undefined) } };
}

describe("a throw in", () => {
  it.effect.each(CALLBACKS)("%s", ([name, over, lost]) =>
    Effect.gen(function* () {
      const machine = yield* memoryMachine;
      const { runtime } = yield* machine.boot(over(machine.services));
      const sibling = yield* runtime.spawn(spec());
      const healthy = yield* nth(machine.memory, 1);
      const bad = yield* runtime.spawn(spec());
      const run = yield* nth(machine.memory, 2);
      yield* settled;
      run.print("stdout", "unfoldable\n");
      yield* elapse(3);
      if (lost) {
        expect(yield* runtime.wait([bad.id])).toMatchObject([
          { status: "failed", error: { code: "INTERNAL" } },
        ]);
        expect(run.signals).toEqual(["SIGKILL"]);
      } else expect((yield* runtime.info(bad.id)).state).toBe("running");

      healthy.print("stdout", "here\n");
      yield* until("the sibling's line", () => machine.printed(sibling.id).length === 1);
      healthy.exit(1);
      yield* until(
        "the sibling's restart",
        () => machine.count(sibling.id, "worker_restart_scheduled") === 1,
      );
      yield* settled;
      expect((yield* runtime.info(sibling.id)).incarnation).toBe(2);

      if (name === "a listener of the log") return;
      const { count, newest } = machine.services.defects.counted();
      expect(count).toBeGreaterThan(0);
      expect(newest?.error).toBe("TypeError");
      const recorded = machine.log
        .read(0, 1_000, { types: ["daemon_defect"] })
        .records.map(({ payload }) => payload);
      expect(recorded).toHaveLength(count);
      expect(recorded.at(-1)).toMatchObject({ where: newest?.where, error: "TypeError" });
      expect(JSON.stringify(recorded), "its words are not recorded").not.toContain("boom");
      figure("R36", { rounds: 1, failures: 0, note: `a throw in ${name}` });
    }),
  );
});
