/** One POST: no redirects, no cookies, no proxy, within bounds of time and size. */
import { type Agent, type ClientRequest, type RequestOptions, request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";

export interface PostRequest {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array;
  readonly timeout_ms: number;
  /** Bytes of the answer that are read. */
  readonly answer_max_bytes: number;
  /** Connects to these addresses in the place of those that the name has. */
  readonly lookup?: RequestOptions["lookup"];
  /** Keeps the connection for the next post. Default: a connection of its own. */
  readonly agent?: Agent | undefined;
  /** Ends the post, and with it its connection. */
  readonly signal?: AbortSignal;
}

export interface PostAnswer {
  readonly status: number;
  /** The header Retry-After, if it is a number of seconds. */
  readonly retry_after_s: number | undefined;
}

/** The server has closed a connection that was kept, just as it was used again. */
const wasClosed = ({ reusedSocket }: ClientRequest, { code }: NodeJS.ErrnoException): boolean =>
  reusedSocket && (code === "ECONNRESET" || code === "EPIPE");

/** Resolves once the answer is read, or its bound is reached. Rejects if none comes. */
export const sendPost = (post: PostRequest): Promise<PostAnswer> =>
  new Promise((resolve, reject) => {
    const { url, headers, body, timeout_ms, answer_max_bytes, lookup, agent = false, signal } = post;
    const late = AbortSignal.timeout(timeout_ms);
    const length = typeof body === "string" ? Buffer.byteLength(body) : body.byteLength;
    const options: RequestOptions = {
      method: "POST",
      agent,
      headers: { "user-agent": "holdfast", "content-length": String(length), ...headers },
      signal: signal === undefined ? late : AbortSignal.any([late, signal]),
      ...(lookup === undefined ? {} : { lookup }),
    };
    const send = url.protocol === "https:" ? requestHttps : requestHttp;
    const sent = send(url, options, (answer) => {
      const after_s = Number(answer.headers["retry-after"] ?? Number.NaN);
      const found = {
        status: answer.statusCode ?? 0,
        retry_after_s: Number.isFinite(after_s) && after_s >= 0 ? after_s : undefined,
      };
      let bytes = 0;
      answer.on("data", (chunk: Buffer) => {
        bytes += chunk.length;
        if (bytes > answer_max_bytes) answer.destroy();
      });
      // The status says it all, so an answer that breaks off is one.
      answer.on("error", () => resolve(found));
      answer.on("close", () => resolve(found));
    });
    sent.on("error", (cause) => {
      if (wasClosed(sent, cause)) resolve(sendPost({ ...post, agent: undefined }));
      else reject(cause);
    });
    sent.end(body);
  });
