/** A decision about several agents, as records tell it. Their tasks stand in the records of their workers, secrets masked. */

export interface SpawnDecided {
  readonly epic_id: string | null;
  readonly spawn_reason: string | null;
  readonly by: string;
  /** Of what was asked for, so that another request under its key is told from a repeat. */
  readonly request_digest: string;
  readonly accepted: boolean;
  readonly spawned: readonly { readonly id: string; readonly role: string; readonly depth: number }[];
  readonly denied: readonly { readonly role: string; readonly reason: string }[];
}
