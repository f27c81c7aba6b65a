/**
 * Keeps the output of a command that manages MCP servers, up to the bound (agent-event notes A.2 and A.5).
 * The rest is read and dropped, so that the command does not block on a full pipe. The bytes are decoded
 * before they are cut, because an invalid byte of UTF-8 becomes three bytes.
 */

import { MCP_OUTPUT_MAX_BYTES } from "../../base/limits.ts";
import { markTruncated } from "../../protocol/bounds.ts";

export interface CapturedText {
  /** At most the bound in bytes of UTF-8. It ends in "…(truncated)" if `truncated` is set. */
  readonly text: string;
  readonly truncated: boolean;
}

export interface Capture {
  /** Adds the next bytes of one stream. The caller may reuse the chunk afterwards. */
  push(chunk: Uint8Array): void;
  end(): CapturedText;
}

/** For one stream: stdout and stderr each have their own bound. */
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
