/** Keys of identities in memory, as long as the file of each stays the same: a server needs them with each request. */
import { statAt } from "../../base/files/regular-file.ts";
import type { IdentityKey } from "./algorithms.ts";
import { ensureIdentity, privateKeyFile } from "./key-files.ts";

interface KeptKey {
  readonly path: string;
  /** Another file, or another state of it, has another one. */
  readonly stamp: string | undefined;
  readonly key: IdentityKey;
}

/** Undefined while there is no file. */
const stampOf = (path: string): string | undefined => {
  const stats = statAt(path);
  return stats && [stats.ino, stats.ctimeMs, stats.size].join();
};

export class KeptKeys {
  private readonly stateDir: string;
  /** By the names of the identities. */
  private readonly kept = new Map<string, KeptKey>();

  constructor(stateDir: string) {
    this.stateDir = stateDir;
  }

  /** As `ensureIdentity`: a key that is rotated counts from the next call on. */
  of(name: string): IdentityKey {
    const kept = this.kept.get(name);
    const path = kept?.path ?? privateKeyFile(this.stateDir, name);
    const stamp = stampOf(path);
    if (kept?.stamp !== undefined && kept.stamp === stamp) return kept.key;
    const { key } = ensureIdentity(this.stateDir, name);
    // The file may have changed between the two looks: then the next call reads it again.
    this.kept.set(name, { path, stamp, key });
    return key;
  }
}
