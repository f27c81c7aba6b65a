import { expect, test } from "vitest";
import type { WorkerState } from "../../../src/protocol/worker.ts";
import { type OrphanReason, orphanedBy } from "../../../src/runtime/boot/orphans.ts";

const cases: readonly [
  what: string,
  run: number,
  row: [number, WorkerState] | undefined,
  OrphanReason | undefined,
][] = [
  ["a worker without a record", 1, undefined, "no_record"],
  ["an incarnation that no record begins", 3, [2, "running"], "no_record"],
  ["an older incarnation", 1, [2, "running"], "ended"],
  ["one that ended for good", 2, [2, "failed"], "ended"],
  ["one that was killed", 2, [2, "cancelled"], "ended"],
  ["one that waits for its restart", 2, [2, "backing_off"], "ended"],
  ["one that its supervisor holds", 2, [2, "pending"], "ended"],
  ["one that is just starting: its record comes before its process", 2, [2, "starting"], undefined],
  ["one that runs", 2, [2, "running"], undefined],
  ["one that is being stopped, or swept", 2, [2, "stopping"], undefined],
];

test.each(cases)("%s", (_what, incarnation, row, expected) => {
  const known = row === undefined ? undefined : { incarnation: row[0], state: row[1] };
  expect(orphanedBy({ incarnation }, known)).toBe(expected);
});
