/** How the built-in skills describe a file, and how they let others run in between. */
import type { Stats } from "node:fs";
import { setImmediate } from "node:timers/promises";
import { HoldfastError } from "../../protocol/errors.ts";

/** `rwx` of the owner, the group and others, as `ls -l` shows it. */
export const modeText = (stats: Stats): string => {
  const rights = [8, 7, 6, 5, 4, 3, 2, 1, 0]
    .map((bit) => ((stats.mode >> bit) & 1 ? "rwx"[(8 - bit) % 3] : "-"))
    .join("");
  return `${stats.isDirectory() ? "d" : stats.isSymbolicLink() ? "l" : "-"}${rights}`;
};

/** RFC 3339 in UTC. */
export const timeText = (stats: Stats): string => stats.mtime.toISOString();

/** Bytes as base64, with the secrets in them masked, which nobody finds in base64 later. */
export const maskedBase64 = (bytes: Buffer, mask: (text: string) => string): string =>
  Buffer.from(mask(bytes.toString("latin1")), "latin1").toString("base64");

/** Fails with CANCELLED, or with the signal's own HoldfastError, once the run is to end. */
const refuseAborted = (signal: AbortSignal): void => {
  if (!signal.aborted) return;
  throw signal.reason instanceof HoldfastError
    ? signal.reason
    : new HoldfastError("CANCELLED", "The skill was stopped before its end.");
};

/** Lets timers and signals of the process come through. */
export const breathe = async (signal: AbortSignal): Promise<void> => {
  await setImmediate();
  refuseAborted(signal);
};
