/** Maps errors of the file system to the catalogue, for artifacts. */
import { asHoldfastError, type ErrorCode, HoldfastError } from "../../protocol/errors.ts";

export const isMissing = (cause: unknown): boolean =>
  (cause as { code?: unknown } | undefined)?.code === "ENOENT";

const CODES: Readonly<Record<string, readonly [ErrorCode, string]>> = {
  ENOSPC: ["DISK_FULL", "The disk of the artifacts is full"],
  EDQUOT: ["DISK_FULL", "The quota of the disk of the artifacts is used up"],
  EACCES: ["PERMISSION_DENIED", "The directory of the artifacts is not accessible"],
  EPERM: ["PERMISSION_DENIED", "The directory of the artifacts is not accessible"],
};

export const artifactError = (cause: unknown): HoldfastError => {
  if (!(cause instanceof Error) || cause instanceof HoldfastError || !("code" in cause))
    return asHoldfastError(cause);
  const [code, sentence] = CODES[String(cause.code)] ?? [
    "STORE_FAILED",
    "The artifacts cannot be read or written",
  ];
  return new HoldfastError(code, `${sentence}: ${cause.message}.`, { cause });
};

export const notFound = (digest: string): HoldfastError =>
  new HoldfastError("ARTIFACT_NOT_FOUND", `There is no artifact ${digest}.`, { details: { digest } });

export const damaged = (digest: string, path: string): HoldfastError =>
  new HoldfastError(
    "ARTIFACT_DAMAGED",
    `The artifact ${digest} is damaged: its bytes do not match the digest. It is kept at ${path}.`,
    { details: { digest, path } },
  );
