/** The audit trail of federation: a chain in which each entry has the hash of the one before. Pure. */
import { createHash } from "node:crypto";
import { canonicalJson } from "./canonical-json.ts";
import type { AuditEntry } from "./peer-records.ts";

/** The hash before the first entry. */
export const AUDIT_START = "0".repeat(64);

/** The end of a chain. */
export interface AuditHead {
  readonly entries: number;
  /** The hash of the newest entry; the next one has it. */
  readonly hash: string;
}

export const NO_AUDIT: AuditHead = { entries: 0, hash: AUDIT_START };

/** notes 4: "SHA-256 hex of JCS(previous entry)". */
export const auditHash = (entry: AuditEntry): string =>
  createHash("sha256").update(canonicalJson(entry)).digest("hex");

/** An entry as it is before it has its place in the chain. */
export type AuditNote = Omit<AuditEntry, "previous_hash">;

/** The notes as entries after a head, in their order. */
export const chained = (
  head: AuditHead,
  notes: readonly AuditNote[],
): { readonly entries: readonly AuditEntry[]; readonly head: AuditHead } => {
  const entries: AuditEntry[] = [];
  let { hash } = head;
  for (const note of notes) {
    const entry: AuditEntry = { ...note, previous_hash: hash };
    entries.push(entry);
    hash = auditHash(entry);
  }
  return { entries, head: { entries: head.entries + notes.length, hash } };
};

/** A chain as far as it holds. `broken`: the number of the first entry, from 1, that does not follow from the one before. */
export interface AuditCheck extends AuditHead {
  readonly broken?: number;
}

/** Carries the check of a chain on over more entries, so that a chain of any length is checked by pages. */
export const checkAudit = (before: AuditCheck, entries: readonly AuditEntry[]): AuditCheck => {
  if (before.broken !== undefined) return before;
  let { entries: count, hash } = before;
  for (const entry of entries) {
    if (entry.previous_hash !== hash) return { entries: count, hash, broken: count + 1 };
    hash = auditHash(entry);
    count += 1;
  }
  return { entries: count, hash };
};
