/**
 * The keys of this state directory (weblisk.txt, Key Generation): `.weblisk/keys/private.key`, the seed and the public key, for its
 * owner alone, and `public.key`. They are the orchestrator's; an agent has its own folder below. An identity is made at its first use.
 */
import {
  closeSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  writeSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { readRegular, statAt } from "../../base/files/regular-file.ts";
import { syncPath } from "../../base/files/sync-path.ts";
import { IDENTITY_ROTATION_MAX_MS } from "../../base/limits.ts";
import { HoldfastError } from "../../protocol/errors.ts";
import type { AlgorithmName } from "../../protocol/words.ts";
import {
  ALGORITHMS,
  type IdentityKey,
  keyOfSeed,
  newKey,
  publicTextOf,
  SEED_BYTES,
  type SigningAlgorithm,
} from "./algorithms.ts";
import { isWholeRotation, type KeyRotation, rotationOf } from "./rotation.ts";

/** The identity of the state directory itself. */
export const ORCHESTRATOR = "orchestrator";

const OWNER_ALONE = 0o600;
const OTHERS = 0o077;

export interface StoredIdentity {
  readonly key: IdentityKey;
  readonly directory: string;
  /** It was made by this call. */
  readonly isNew: boolean;
}

export const keyDirectory = (stateDir: string, name: string): string => {
  const keys = join(stateDir, ".weblisk", "keys");
  return name === ORCHESTRATOR ? keys : join(keys, name);
};

const unusable = (path: string, why: string, suggestion: string): HoldfastError =>
  new HoldfastError("PERMISSION_DENIED", `The key ${path} ${why}.`, { suggestion, phase: "validation" });

const RESTORE = "Restore the folder from a backup, or remove it: the next use makes another identity.";

/** A whole new file that is on the disk. Throws EEXIST if it is there. */
const writeNew = (path: string, bytes: Uint8Array, mode: number): void => {
  const fd = openSync(path, "wx", mode);
  try {
    writeSync(fd, bytes);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
};

/** In the place of the old file, in one step. */
const replace = (path: string, bytes: Uint8Array, mode: number): void => {
  const next = `${path}.${process.pid}`;
  rmSync(next, { force: true });
  writeNew(next, bytes, mode);
  renameSync(next, path);
};

/** The content of `private.key`: the seed and the public key. */
export const privateBytes = ({ seed, publicKey }: IdentityKey): Buffer => Buffer.concat([seed, publicKey]);

/** The algorithm follows from the length of the file: a seed with the public key of one of them. */
const algorithmOf = (length: number): SigningAlgorithm | undefined =>
  Object.values(ALGORITHMS).find(({ publicKeyBytes }) => length === SEED_BYTES + publicKeyBytes);

/** Also reads 128 hex digits, which the command line of upstream writes, and a seed alone, which is Ed25519's. */
const keyOfFile = (path: string, bytes: Buffer): IdentityKey => {
  const text = bytes.toString("latin1").trim();
  const raw = /^[0-9a-f]{128}$/.test(text) ? Buffer.from(text, "hex") : bytes;
  const algorithm = raw.length === SEED_BYTES ? ALGORITHMS.Ed25519 : algorithmOf(raw.length);
  if (algorithm === undefined) throw unusable(path, `has ${bytes.length} bytes, which is no key`, RESTORE);
  const key = keyOfSeed(algorithm, raw.subarray(0, SEED_BYTES));
  const stored = raw.subarray(SEED_BYTES);
  if (stored.length > 0 && !key.publicKey.equals(stored))
    throw unusable(path, "does not fit the public key in it", RESTORE);
  return key;
};

const readPrivate = (path: string): IdentityKey | undefined => {
  const stats = statAt(path);
  if (stats === undefined) return undefined;
  const bytes = stats.isFile() ? readRegular(path) : undefined;
  if (bytes === undefined) throw unusable(path, "is no regular file", RESTORE);
  const { mode, uid } = stats;
  if ((mode & OTHERS) !== 0 || uid !== (process.getuid?.() ?? uid))
    throw unusable(
      path,
      "can be read by others",
      `Make it yours alone with chmod 600, and rotate it: agent identity rotate.`,
    );
  return keyOfFile(path, bytes);
};

/** Undefined if there is none, or only a part of one. */
const rotationAt = (path: string): KeyRotation | undefined => {
  try {
    const bytes = readRegular(path);
    return bytes === undefined ? undefined : (JSON.parse(bytes.toString("utf8")) as KeyRotation);
  } catch (cause) {
    if (cause instanceof SyntaxError) return undefined;
    throw cause;
  }
};

const filesOf = (directory: string) => ({
  secret: join(directory, "private.key"),
  shared: join(directory, "public.key"),
  rotation: join(directory, "rotation.json"),
  /** The statement of a rotation that has not ended; it keeps others from beginning. */
  begun: join(directory, "rotation.json.begun"),
});

/** The path of the file with the secret of this identity. */
export const privateKeyFile = (stateDir: string, name: string): string =>
  filesOf(keyDirectory(stateDir, name)).secret;

/** The statement of the newest change of this identity's key; undefined if it never changed. */
export const readRotation = (stateDir: string, name: string): KeyRotation | undefined =>
  rotationAt(filesOf(keyDirectory(stateDir, name)).rotation);

/** Files that a rotation writes before it takes effect. */
const DRAFT = /^(?:private\.key|rotation\.json)\.[0-9a-f]{32}$/;

/** Whether a rotation that has begun may still be at work. One takes milliseconds. */
const isFresh = (path: string): boolean =>
  Date.now() - (statAt(path)?.mtimeMs ?? 0) < IDENTITY_ROTATION_MAX_MS;

/** Ends a rotation in whose middle its process died: the private key tells whether it has happened. */
const settle = (directory: string, key: IdentityKey): void => {
  const { shared, rotation, begun } = filesOf(directory);
  const found = rotationAt(begun);
  if (found?.new_public_key === publicTextOf(key) && isWholeRotation(found)) {
    replace(shared, key.publicKey, 0o644);
    try {
      renameSync(begun, rotation);
    } catch (cause) {
      // Another process has just ended the same rotation.
      if ((cause as NodeJS.ErrnoException).code !== "ENOENT") throw cause;
    }
    syncPath(directory);
  } else if (statAt(begun) !== undefined && !isFresh(begun)) {
    for (const name of readdirSync(directory).filter((one) => DRAFT.test(one)))
      rmSync(join(directory, name), { force: true });
    rmSync(begun, { force: true });
    syncPath(directory);
  }
};

/** The identity of this name; undefined if it was never made. */
export const readIdentity = (stateDir: string, name: string): StoredIdentity | undefined => {
  const directory = keyDirectory(stateDir, name);
  const { secret, shared } = filesOf(directory);
  const key = readPrivate(secret);
  if (key === undefined) return undefined;
  settle(directory, key);
  const stored = readRegular(shared);
  if (stored === undefined) writeNew(shared, key.publicKey, 0o644);
  else if (!key.publicKey.equals(stored)) {
    // A rotation may have ended between the two reads.
    const isRotated = readPrivate(secret)?.publicKey.equals(key.publicKey) === false;
    if (isRotated) return readIdentity(stateDir, name);
    throw unusable(shared, "is not the one of private.key", RESTORE);
  }
  return { key, directory, isNew: false };
};

/** Makes the identity if it is missing. Two processes that do so at once get the same one. */
export const ensureIdentity = (
  stateDir: string,
  name: string,
  algorithm: AlgorithmName = "Ed25519",
): StoredIdentity => {
  const known = readIdentity(stateDir, name);
  if (known !== undefined) return known;
  const directory = keyDirectory(stateDir, name);
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const { secret, shared } = filesOf(directory);
  const key = newKey(ALGORITHMS[algorithm]);
  const draft = `${secret}.${process.pid}`;
  rmSync(draft, { force: true });
  writeNew(draft, privateBytes(key), OWNER_ALONE);
  try {
    // Whole from its first moment, and never over another one.
    linkSync(draft, secret);
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== "EEXIST") throw cause;
    const theirs = readIdentity(stateDir, name);
    if (theirs !== undefined) return theirs;
    throw cause;
  } finally {
    rmSync(draft, { force: true });
  }
  replace(shared, key.publicKey, 0o644);
  syncPath(directory);
  syncPath(dirname(directory));
  return { key, directory, isNew: true };
};

/**
 * Gives the identity another key. The statement that both keys have signed is on the disk before the new key is used, and stays in
 * `rotation.json`; the old private key is gone then. A kill at any point leaves the old key or the new one, whole.
 */
export const rotateIdentity = (
  stateDir: string,
  name: string,
  {
    algorithm,
    beforehand,
    ...when
  }: {
    /** Default: that of the old key. */
    readonly algorithm?: AlgorithmName | undefined;
    /** Called before the new key counts, while both keys can sign. */
    readonly beforehand?: ((before: IdentityKey, after: IdentityKey) => void) | undefined;
  } & Pick<KeyRotation, "timestamp" | "nonce">,
): { readonly key: IdentityKey; readonly rotation: KeyRotation } => {
  const { key: before, directory } = ensureIdentity(stateDir, name);
  const { secret, rotation: file, begun } = filesOf(directory);
  const key = newKey(ALGORITHMS[algorithm ?? before.algorithm.name]);
  const rotation = rotationOf(name, before, key, when);
  const [nextKey, statement] = [`${secret}.${when.nonce}`, `${file}.${when.nonce}`];
  writeNew(nextKey, privateBytes(key), OWNER_ALONE);
  writeNew(statement, Buffer.from(`${JSON.stringify(rotation)}\n`), OWNER_ALONE);
  try {
    // Whole from its first moment, and only one at a time.
    linkSync(statement, begun);
    if (readPrivate(secret)?.publicKey.equals(before.publicKey) !== true) {
      // Another rotation ended since the old key was read.
      rmSync(begun, { force: true });
      throw rotatedElsewhere(name);
    }
    beforehand?.(before, key);
    syncPath(directory);
    renameSync(nextKey, secret);
  } catch (cause) {
    rmSync(nextKey, { force: true });
    throw (cause as NodeJS.ErrnoException).code === "EEXIST" ? rotatedElsewhere(name) : cause;
  } finally {
    rmSync(statement, { force: true });
  }
  settle(directory, key);
  return { key, rotation };
};

const rotatedElsewhere = (name: string): HoldfastError =>
  new HoldfastError("INVALID_STATE", `Another process gives the identity ${name} a new key now.`, {
    suggestion: `See its key with: agent identity show ${name === ORCHESTRATOR ? "" : name}`.trim(),
  });
