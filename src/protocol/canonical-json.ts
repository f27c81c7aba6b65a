/** Canonical JSON (RFC 8785) and digests of it: equal values have equal bytes, hence equal digests. */
import { createHash } from "node:crypto";
import canonicalize from "canonicalize";
import { HoldfastError } from "./errors.ts";

/** Fails with INVALID_REQUEST on a value that JSON cannot express: NaN, a lone surrogate, a cycle, undefined. */
export const canonicalJson = (value: unknown): string => {
  try {
    const json = canonicalize(value);
    if (json !== undefined) return json;
  } catch (cause) {
    throw notJson(cause);
  }
  throw notJson();
};

const notJson = (cause?: unknown): HoldfastError =>
  new HoldfastError("INVALID_REQUEST", "The value has no canonical JSON.", { cause });

/** `sha256:` and 64 lower-case hex digits, of bytes or of a text's UTF-8 (protocol-v1.txt, Artifactization). */
export const sha256Digest = (content: string | Uint8Array): string =>
  `sha256:${createHash("sha256").update(content).digest("hex")}`;

export const canonicalDigest = (value: unknown): string => sha256Digest(canonicalJson(value));
