/**
 * The kept part of the output of a command that manages MCP servers (agent-event notes A.2 and A.5): the first bytes up to the bound. The
 * rest is read, so that the command does not wait for a reader, and let go of. It is decoded first and cut then, since a byte that is no
 * UTF-8 becomes three.
 */

import { MCP_OUTPUT_MAX_BYTES } from "../../base/limits.ts";
import { markTruncated } from "../../protocol/bounds.ts";

export interface CapturedText {
  /** At most the bound in bytes of UTF-8; it ends in "…(truncated)" where `truncated` is set. */
  readonly text: string;
  readonly truncated: boolean;
}

export interface Capture {
  /** The next bytes of one stream. The chunk may be used again by whoever gave it. */
  push(chunk: Uint8Array): void;
  end(): CapturedText;
}

/** For one stream: stdout and stderr have a bound each. */
export const makeCapture = (maxBytes: number = MCP_OUTPUT_MAX_BYTES): Capture => {
  const kept: Buffer[] = [];
  let room = maxBytes;
  let isMore = false;
  return {
    push(chunk) {
      isMore ||= chunk.length > room;
      const part = Buffer.from(chunk.subarray(0, room));
      if (part.length > 0) kept.push(part);
      room -= part.length;
    },
    end() {
      const decoded = Buffer.concat(kept).toString("utf8");
      const truncated = isMore || Buffer.byteLength(decoded) > maxBytes;
      return { text: truncated ? markTruncated(decoded, maxBytes) : decoded, truncated };
    },
  };
};
