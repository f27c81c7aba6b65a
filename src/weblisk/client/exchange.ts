/**
 * One request to an address that a person or an agent named: to the address that the guard has judged, without redirects, cookies
 * or proxies, within bounds of time and bytes. A token goes out unencrypted to this machine alone.
 */
import { type IncomingMessage, request as requestHttp } from "node:http";
import { type RequestOptions as HttpsOptions, request as requestHttps } from "node:https";
import type { SecureVersion } from "node:tls";
import { kindOfAddress } from "../../base/addresses.ts";
import type { JsonObject } from "../../base/json.ts";
import { WEBLISK_ANSWER_MAX_BYTES, WEBLISK_CALL_MAX_MS } from "../../base/limits.ts";
import { ForbiddenAddressError, type PinnedAddress, pinnedAddress } from "../../base/pinned-address.ts";
import { HoldfastError } from "../../protocol/errors.ts";
import { readBody, type WireBody, wireJson } from "../wire/body.ts";

export interface OutgoingCall {
  readonly method: "GET" | "POST" | "DELETE";
  readonly url: URL;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: JsonObject;
  /** The body as it is written, in its place. */
  readonly text?: string;
  readonly isPrivateAllowed: boolean;
  /** Default: TLS 1.2. */
  readonly minVersion?: SecureVersion;
  /** Default: WEBLISK_CALL_MAX_MS. */
  readonly timeout_ms?: number;
  /** Ends the call, as if nobody answered. */
  readonly signal?: AbortSignal;
}

export interface IncomingReply {
  readonly status: number;
  /** Undefined for a redirect or a refusal that is no JSON, as proxies write them. */
  readonly body: WireBody | undefined;
  /** Seconds, from its header. */
  readonly retry_after_s: number | undefined;
}

/** `silent`: nobody answers there. `slow`: no whole answer within the time. */
export type WireExchange = (call: OutgoingCall) => Promise<IncomingReply | "silent" | "slow">;

/**
 * Throws POLICY_VIOLATION for an address to which nothing may connect or whose certificate is not trusted, and a WebliskRefusal if an answer of success is no JSON that
 * can be read in one way only, or is too large.
 */
export const exchange: WireExchange = async (call) => {
  const pinned = await pinnedFor(call);
  if (pinned === "silent") return "silent";
  let raw: ReadReply;
  try {
    raw = await rawAnswer(call, pinned);
  } catch (cause) {
    if ((cause as Error).name === "TimeoutError") return "slow";
    if (isMistrust(cause)) throw mistrusted(call.url, cause);
    return "silent";
  }
  const { status, bytes, retry_after_s } = raw;
  return { status, retry_after_s, body: status < 300 ? bodyOf(bytes) : refusalIn(bytes) };
};

/** OpenSSL's words for a certificate that was not accepted, and Node's for one of another host. */
const MISTRUST =
  /^(?:CERT_\w+|DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_\w+|ERR_TLS_CERT_ALTNAME_INVALID)$/;

const isMistrust = (cause: unknown): cause is NodeJS.ErrnoException =>
  MISTRUST.test((cause as NodeJS.ErrnoException).code ?? "");

const mistrusted = (url: URL, cause: NodeJS.ErrnoException): HoldfastError =>
  new HoldfastError(
    "POLICY_VIOLATION",
    `The certificate of ${url.host} is not trusted: ${cause.code === "ERR_TLS_CERT_ALTNAME_INVALID" ? "it is for another host" : cause.message}.`,
    { suggestion: "Name the certificate of its authority in NODE_EXTRA_CA_CERTS.", cause },
  );

const bodyOf = (bytes: Buffer): WireBody => readBody(bytes, WEBLISK_ANSWER_MAX_BYTES);

const refusalIn = (bytes: Buffer): WireBody | undefined => {
  try {
    return bodyOf(bytes);
  } catch {
    return undefined;
  }
};

const pinnedFor = async ({
  url,
  isPrivateAllowed,
}: Pick<OutgoingCall, "url" | "isPrivateAllowed">): Promise<PinnedAddress | "silent"> => {
  let pinned: PinnedAddress;
  try {
    pinned = await pinnedAddress(url, {
      isPrivateAllowed,
      allowedBy: "a host that is written as an address",
    });
  } catch (cause) {
    if (!(cause instanceof ForbiddenAddressError)) return "silent";
    throw new HoldfastError("POLICY_VIOLATION", cause.message, {
      suggestion: "Name a host that may be reached.",
      cause,
    });
  }
  if (url.protocol === "https:" || kindOfAddress(pinned.address) === "loopback") return pinned;
  throw new HoldfastError("POLICY_VIOLATION", `A token would go to ${url.host} unencrypted.`, {
    suggestion: "Use its address with https://; without TLS, only this machine is spoken to.",
  });
};

interface ReadReply {
  readonly status: number;
  readonly bytes: Buffer;
  readonly retry_after_s: number | undefined;
}

/** Rejects if no whole answer comes in time. One byte over the bound is read, so that it is refused and not cut. */
const rawAnswer = (
  {
    method,
    url,
    headers,
    minVersion = "TLSv1.2",
    timeout_ms = WEBLISK_CALL_MAX_MS,
    signal,
    ...content
  }: OutgoingCall,
  pinned: PinnedAddress,
): Promise<ReadReply> =>
  new Promise((resolve, reject) => {
    const text = content.text ?? (content.body && wireJson(content.body));
    const expired = AbortSignal.timeout(timeout_ms);
    // An abort rejects with its own error: only the name of its reason says which of the two it was.
    const failed = (cause: Error): void => reject(expired.aborted ? expired.reason : cause);
    const options: HttpsOptions = {
      method,
      agent: false,
      minVersion,
      headers: {
        "user-agent": "holdfast",
        accept: "application/json",
        ...(text !== undefined && {
          "content-type": "application/json",
          "content-length": String(Buffer.byteLength(text)),
        }),
        ...headers,
      },
      signal: signal === undefined ? expired : AbortSignal.any([expired, signal]),
      lookup: (_, asked, found) =>
        asked.all === true ? found(null, [pinned]) : found(null, pinned.address, pinned.family),
    };
    const sent = (url.protocol === "https:" ? requestHttps : requestHttp)(url, options, (answer) => {
      read(answer).then(resolve, failed);
    });
    sent.on("error", failed);
    sent.end(text);
  });

const read = async (answer: IncomingMessage): Promise<ReadReply> => {
  const parts: Buffer[] = [];
  let length = 0;
  for await (const part of answer as AsyncIterable<Buffer>) {
    length += part.length;
    parts.push(part);
    if (length > WEBLISK_ANSWER_MAX_BYTES) break;
  }
  const after_s = Number(answer.headers["retry-after"] ?? Number.NaN);
  return {
    status: answer.statusCode ?? 0,
    bytes: Buffer.concat(parts),
    retry_after_s: Number.isFinite(after_s) && after_s >= 0 ? after_s : undefined,
  };
};
