/**
 * Ids that count once (weblisk.txt, Replay Protection). Each is a file, so neither a restart nor a second server on the same state
 * directory lets a replay through. A full table takes no further id rather than forget one that still protects.
 */
import { createHash } from "node:crypto";
import {
  WEBLISK_SEEN_MAX,
  WEBLISK_SEEN_RETRY_S,
  WEBLISK_SEEN_S,
  WEBLISK_SEEN_TIDY_MS,
} from "../../base/limits.ts";
import { WebliskRefusal } from "../wire/refusal.ts";
import type { ServerFiles } from "./files.ts";

const RULE = { keep_ms: WEBLISK_SEEN_S * 1_000, every_ms: WEBLISK_SEEN_TIDY_MS };

export class OnceTable {
  private readonly files: ServerFiles;
  private readonly max: number;
  private held = 0;

  constructor(files: ServerFiles, max = WEBLISK_SEEN_MAX) {
    this.files = files;
    this.max = max;
  }

  /** Throws INVALID_SIGNATURE if this id has come before from the same sender. `now` in epoch milliseconds. */
  take(sender: string, id: string, now: number): void {
    if (this.files.tidy("nonces", now, RULE)) this.held = this.files.names("nonces").length;
    if (this.held >= this.max)
      throw new WebliskRefusal("RATE_LIMITED", "Too many requests are remembered; try again later.", {
        reason: "nonces_full",
        retry_after: WEBLISK_SEEN_RETRY_S,
      });
    // No sender has a blank in its name.
    if (!this.files.mark("nonces", createHash("sha256").update(`${sender} ${id}`).digest("hex"), now))
      throw new WebliskRefusal(
        "INVALID_SIGNATURE",
        "This nonce has come before, so this is a replay; make another one, and sign again.",
        { reason: "nonce_seen" },
      );
    this.held += 1;
  }
}
