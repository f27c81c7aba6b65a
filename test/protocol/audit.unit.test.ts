/** The audit chain: a change, a gap and a swap are found at their place. */
import fc from "fast-check";
import { expect, it } from "vitest";
import { AUDIT_START, type AuditNote, chained, checkAudit, NO_AUDIT } from "../../src/protocol/audit.ts";
import type { AuditEntry } from "../../src/protocol/peer-records.ts";

const note = (n: number): AuditNote => ({
  id: n.toString(16).padStart(32, "0"),
  timestamp: 1_700_000_000 + n,
  actor: "hub.example",
  action: "task.request",
  target: "hub.example",
  detail: { fields: ["title"], bytes: n },
  status: "ok",
});
const chain = (length: number) =>
  chained(
    NO_AUDIT,
    Array.from({ length }, (_, n) => note(n)),
  );

it("begins with 64 zeros, and goes on after a head", () => {
  const { entries, head } = chain(3);
  expect(entries[0]?.previous_hash).toBe(AUDIT_START);
  const more = chained(head, [note(3)]);
  expect(checkAudit(NO_AUDIT, [...entries, ...more.entries])).toEqual({ entries: 4, hash: more.head.hash });
});

it("checks by pages as at once", () => {
  const { entries, head } = chain(10);
  expect(checkAudit(checkAudit(NO_AUDIT, entries.slice(0, 4)), entries.slice(4))).toEqual(head);
});

it("finds whatever was changed, left out or swapped, unless it is the end", () => {
  const { entries } = chain(12);
  fc.assert(
    fc.property(fc.nat(10), fc.constantFrom("change", "gap", "swap"), (at, sin) => {
      const bad: AuditEntry[] = [...entries];
      if (sin === "change") bad[at] = { ...(bad[at] as AuditEntry), actor: "somebody" };
      if (sin === "gap") bad.splice(at, 1);
      if (sin === "swap") bad.splice(at, 2, entries[at + 1] as AuditEntry, entries[at] as AuditEntry);
      expect(checkAudit(NO_AUDIT, bad).broken).toBe(sin === "change" ? at + 2 : at + 1);
    }),
  );
});

it("a shorter chain has another hash", () => {
  expect(chain(11).head.hash).not.toBe(chain(12).head.hash);
});
