/** The peers of this hub, one row each, and the end of the audit chain. */
import type { Database } from "better-sqlite3";
import { type AuditHead, auditHash, NO_AUDIT } from "../../../protocol/audit.ts";
import { type FederatedPeer, foldPeer, isOfPeer } from "../../../protocol/peer.ts";
import { AUDIT_STREAM } from "../../../protocol/peer-records.ts";
import type { LogRecord } from "../../../protocol/records.ts";
import type { Projection } from "./projection.ts";

export const FEDERATION_SCHEMA = `
  CREATE TABLE p_federation (
    stream TEXT NOT NULL PRIMARY KEY, entries INTEGER NOT NULL, state TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;
`;

export const federation = (db: Database): Projection => {
  const put = db.prepare(
    "INSERT INTO p_federation VALUES (?, ?, ?) ON CONFLICT (stream) DO UPDATE SET entries = excluded.entries, state = excluded.state",
  );
  const get = db.prepare<[string], string>("SELECT state FROM p_federation WHERE stream = ?").pluck();
  const count = db.prepare<[string], number>("SELECT entries FROM p_federation WHERE stream = ?").pluck();
  const remove = db.prepare("DELETE FROM p_federation WHERE stream = ?");
  const fold = (record: LogRecord): void => {
    const { stream } = record;
    if (record.type === "audit_entry") {
      put.run(stream, (count.get(stream) ?? 0) + 1, auditHash(record.payload));
    } else if (isOfPeer(record)) {
      const text = get.get(stream);
      const peer = foldPeer(text === undefined ? undefined : (JSON.parse(text) as FederatedPeer), record);
      if (peer === undefined) remove.run(stream);
      else put.run(stream, 0, JSON.stringify(peer));
    }
  };
  return { fold, flush: () => {}, reset: () => {} };
};

export const federationRows = (db: Database) => {
  const peers = db
    .prepare<[string], string>("SELECT state FROM p_federation WHERE stream != ? ORDER BY stream")
    .pluck();
  const head = db.prepare<[string], AuditHead>(
    "SELECT entries, state AS hash FROM p_federation WHERE stream = ?",
  );
  return {
    peers: (): readonly FederatedPeer[] =>
      peers.all(AUDIT_STREAM).map((text) => JSON.parse(text) as FederatedPeer),
    auditHead: (): AuditHead => head.get(AUDIT_STREAM) ?? NO_AUDIT,
  };
};
