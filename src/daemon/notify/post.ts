/** One POST to an address that the guard has judged: no redirects, no cookies, no proxy, within bounds of time and size. */
import { type RequestOptions, request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import { NOTIFY_ANSWER_MAX_BYTES, NOTIFY_SEND_MAX_MS } from "../../base/limits.ts";
import type { Sending } from "../../control/notify/outbox.ts";
import { ForbiddenAddressError, type PinnedAddress, pinnedAddress } from "./pinned.ts";

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
    const pinned = await pinnedAddress(url, posting);
    const status = await sendTo(url, pinned, posting);
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

/** Resolves with the status once the answer is read, or its bound is reached. */
const sendTo = (url: URL, pinned: PinnedAddress, { headers, body }: Posting): Promise<number> =>
  new Promise((resolve, reject) => {
    const options: RequestOptions = {
      method: "POST",
      agent: false,
      headers: { "user-agent": "holdfast", "content-length": String(Buffer.byteLength(body)), ...headers },
      signal: AbortSignal.timeout(NOTIFY_SEND_MAX_MS),
      lookup: (_, asked, found) =>
        asked.all === true ? found(null, [pinned]) : found(null, pinned.address, pinned.family),
    };
    const send = url.protocol === "https:" ? requestHttps : requestHttp;
    const sent = send(url, options, (answer) => {
      const status = answer.statusCode ?? 0;
      let bytes = 0;
      answer.on("data", (chunk: Buffer) => {
        bytes += chunk.length;
        if (bytes > NOTIFY_ANSWER_MAX_BYTES) answer.destroy();
      });
      // The status says it all, so an answer that breaks off is one.
      answer.on("error", () => resolve(status));
      answer.on("close", () => resolve(status));
    });
    sent.on("error", reject);
    sent.end(body);
  });
