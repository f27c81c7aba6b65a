/** Digests of artifacts as text (protocol-v1.txt, Artifactization): `sha256:` and 64 lower-case hex digits. */

const DIGEST = /^sha256:[0-9a-f]{64}$/;

export const isDigest = (value: unknown): value is string => typeof value === "string" && DIGEST.test(value);
