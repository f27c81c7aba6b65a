/** A decision about several agents, as records tell it. Their tasks stand in the records of their workers, secrets masked. */

interface SpawnDecided {
  readonly epic_id: string | null;
  readonly spawn_reason: string | null;
  readonly by: string;
  /** The digest of the request, by which a repeat is told from another request under its key. */
  readonly request_digest: string;
  readonly accepted: boolean;
  readonly spawned: readonly { readonly id: string; readonly role: string; readonly depth: number }[];
  readonly denied: readonly { readonly role: string; readonly reason: string }[];
}

/** The payloads of records about groups, by their types: part of `RecordPayloads`. */
export interface SpawnRecords {
  /** One decision about several agents that somebody asked for by their roles: all of them start, or none does. */
  spawn_decided: SpawnDecided;
}
