/** One POST to an address that the guard has judged. */
import { NOTIFY_ANSWER_MAX_BYTES, NOTIFY_SEND_MAX_MS } from "../../base/limits.ts";
import { ForbiddenAddressError, pinnedAddress } from "../../base/pinned-address.ts";
import type { Sending } from "../../control/notify/outbox.ts";
import { sendPost } from "../posting.ts";

export interface Posting {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly isPrivateAllowed: boolean;
}

const GONE = 410;

export const post = async (posting: Posting): Promise<Sending> => {
  try {
    const url = new URL(posting.url);
    const pinned = await pinnedAddress(url, { ...posting, allowedBy: "private: true" });
    const { status } = await sendPost({
      url,
      headers: posting.headers,
      body: posting.body,
      timeout_ms: NOTIFY_SEND_MAX_MS,
      answer_max_bytes: NOTIFY_ANSWER_MAX_BYTES,
      lookup: (_, asked, found) =>
        asked.all === true ? found(null, [pinned]) : found(null, pinned.address, pinned.family),
    });
    if (status >= 200 && status < 300) return { ok: true };
    return { ok: false, reason: `${url.host} answered with status ${status}.`, isFinal: status === GONE };
  } catch (cause) {
    return { ok: false, reason: reasonOf(cause), isFinal: cause instanceof ForbiddenAddressError };
  }
};

const reasonOf = (cause: unknown): string => {
  const { code, message } = cause as NodeJS.ErrnoException;
  return cause instanceof ForbiddenAddressError || code === undefined ? message : `${message} (${code})`;
};
