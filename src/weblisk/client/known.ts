/** Orchestrators elsewhere, as a file each: the name of this side there, its token, and the keys that were seen first. */
import { createHash } from "node:crypto";
import type { AlgorithmName } from "../../protocol/words.ts";
import { SIGNING_ALGORITHMS } from "../../protocol/words.ts";
import { type PublicKeyRecord, verifierOf } from "../identity/algorithms.ts";
import type { KeyRotation } from "../identity/rotation.ts";
import type { ServerFiles } from "../server/files.ts";

export interface KnownOrchestrator {
  readonly url: string;
  /** The identity of this side whose key signs. */
  readonly identity: string;
  /** The name under which it is registered there. It stays if the key changes. */
  readonly name: string;
  readonly agent_id: string;
  /** For which it asks with each renewal. */
  readonly capabilities: readonly string[];
  /** The address of this side, as others there are told it. */
  readonly own_url: string;
  readonly token: string;
  /** Epoch seconds. */
  readonly expires_at: number;
  /** The orchestrator's key; absent if it never showed one. */
  readonly key?: PublicKeyRecord;
  /** Keys of its agents, by their names. */
  readonly agents: Readonly<Record<string, PublicKeyRecord>>;
  /** The change of this side's key, for as long as the orchestrator has not said that it knows it. */
  readonly rotation?: KeyRotation;
}

/** The file of an orchestrator and a name there. */
export const knownFile = (url: string, name: string): string =>
  createHash("sha256").update(`${name} ${url}`).digest("hex").slice(0, 40);

export const readKnown = (files: ServerFiles, url: string, name: string): KnownOrchestrator | undefined =>
  files.read<KnownOrchestrator>("orchestrators", knownFile(url, name));

export const writeKnown = (files: ServerFiles, known: KnownOrchestrator): void =>
  files.write("orchestrators", knownFile(known.url, known.name), known);

export const dropKnown = (files: ServerFiles, { url, name }: KnownOrchestrator): void =>
  files.remove("orchestrators", knownFile(url, name));

/** Those at which this identity is registered. */
export const knownOf = (files: ServerFiles, identity: string): readonly KnownOrchestrator[] =>
  files
    .names("orchestrators")
    .flatMap((file) => files.read<KnownOrchestrator>("orchestrators", file) ?? [])
    .filter((known) => known.identity === identity);

/** A public key as somebody shows it, with its algorithm; undefined for a weak key, and for one of no known algorithm. */
export const keyShown = (publicKey: string, said?: string): PublicKeyRecord | undefined => {
  const algorithm = SIGNING_ALGORITHMS.find(
    (name: AlgorithmName) =>
      (said === undefined || said === name) && verifierOf({ algorithm: name, publicKey }) !== undefined,
  );
  return algorithm && { algorithm, publicKey };
};
