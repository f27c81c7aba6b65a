/** The certificate and the private key of a listener, from two PEM files. */
import { createPrivateKey, type KeyObject, X509Certificate } from "node:crypto";
import { statSync } from "node:fs";
import { readNamed } from "../../base/files/regular-file.ts";
import { WEBLISK_TLS_FILE_MAX_BYTES } from "../../base/limits.ts";
import { HoldfastError } from "../../protocol/errors.ts";

/** Absolute paths. */
export interface TlsFiles {
  /** The certificate, and those between it and its root behind it. */
  readonly cert: string;
  readonly key: string;
}

/** PEM. */
export interface TlsPair {
  readonly cert: Buffer;
  readonly key: Buffer;
}

const OTHERS = 0o077;

const unusable = (message: string, suggestion: string, cause?: unknown): HoldfastError =>
  new HoldfastError("INVALID_REQUEST", message, { suggestion, phase: "validation", cause });

const bytesAt = (flag: string, path: string): Buffer => {
  let bytes: Buffer | undefined;
  try {
    bytes = readNamed(path, WEBLISK_TLS_FILE_MAX_BYTES);
  } catch (cause) {
    throw unusable(`${flag} ${path} cannot be read.`, "Name a PEM file that you may read.", cause);
  }
  if (bytes !== undefined) return bytes;
  throw unusable(
    `${flag} ${path} has over ${WEBLISK_TLS_FILE_MAX_BYTES} bytes, which is no certificate and no key.`,
    "Name a PEM file.",
  );
};

const certificateOf = (path: string, pem: Buffer): X509Certificate => {
  try {
    return new X509Certificate(pem);
  } catch (cause) {
    throw unusable(`--tls-cert ${path} holds no certificate.`, "Name a PEM file with one.", cause);
  }
};

const keyOf = (path: string, pem: Buffer): KeyObject => {
  try {
    return createPrivateKey(pem);
  } catch (cause) {
    throw unusable(
      `--tls-key ${path} holds no private key that needs no passphrase.`,
      "Name a PEM file with one: openssl pkey -in OLD -out NEW takes a passphrase away.",
      cause,
    );
  }
};

const checkAlone = (path: string): void => {
  const { mode, uid } = statSync(path);
  if ((mode & OTHERS) === 0 && uid === (process.getuid?.() ?? uid)) return;
  throw new HoldfastError("PERMISSION_DENIED", `The key ${path} can be read by others.`, {
    suggestion: "Make it yours alone with chmod 600; have a new certificate if somebody may have read it.",
    phase: "validation",
  });
};

/**
 * The pair, fit to serve at `now`. Throws PERMISSION_DENIED for a key that others can read, and INVALID_REQUEST for files that
 * cannot be read, are over WEBLISK_TLS_FILE_MAX_BYTES, hold something else, do not fit each other, or have another time.
 */
export const readTlsPair = ({ cert, key }: TlsFiles, now: Date): TlsPair => {
  const pair = { cert: bytesAt("--tls-cert", cert), key: bytesAt("--tls-key", key) };
  checkAlone(key);
  const certificate = certificateOf(cert, pair.cert);
  if (!certificate.checkPrivateKey(keyOf(key, pair.key)))
    throw unusable(
      `--tls-key ${key} is not the key of the certificate ${cert}.`,
      "Name the key for which the certificate was made.",
    );
  const { validFromDate, validToDate } = certificate;
  if (now > validToDate)
    throw unusable(`The certificate ${cert} expired on ${validToDate.toISOString()}.`, "Have it renewed.");
  if (now < validFromDate)
    throw unusable(
      `The certificate ${cert} is not valid before ${validFromDate.toISOString()}.`,
      "Wait for it, or look at the clock of this machine.",
    );
  return pair;
};
