/** The headers of a request (weblisk.txt, Request Envelope). Pure: node:http has parsed them. */
import { WEBLISK_TOKEN_MAX_CHARS } from "../../base/limits.ts";
import { tooLarge } from "./body.ts";
import { wireId } from "./ids.ts";
import { WebliskRefusal } from "./refusal.ts";

/** Names in lower case. */
export type WireHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

const one = (headers: WireHeaders, name: string): string | undefined => {
  const value = headers[name];
  return typeof value === "string" ? value : value?.[0];
};

export interface RequestIds {
  readonly trace: string;
  readonly request: string;
  /** The client sent the id itself: another request with it is a repeat. */
  readonly isClientsRequest: boolean;
}

const idIn = (headers: WireHeaders, name: string): string | undefined => {
  const given = one(headers, name);
  if (given === undefined) return undefined;
  const id = wireId(given);
  if (id === undefined)
    throw new WebliskRefusal(
      "INVALID_REQUEST",
      `The header ${name} is no id of 32 hex digits; send one, or none.`,
      {
        reason: "header_id_malformed",
      },
    );
  return id;
};

/** X-Trace-Id and X-Request-Id, or new ones where the client sent none. */
export const idsOf = (headers: WireHeaders, newId: () => string): RequestIds => {
  const request = idIn(headers, "x-request-id");
  return {
    trace: idIn(headers, "x-trace-id") ?? newId(),
    request: request ?? newId(),
    isClientsRequest: request !== undefined,
  };
};

/** Throws unless a body of these headers is plain JSON of at most `maxBytes`, as far as they tell. */
export const checkBodyHeaders = (headers: WireHeaders, maxBytes: number): void => {
  const type = one(headers, "content-type");
  if (!/^application\/json\s*(?:;|$)/i.test(type ?? ""))
    throw new WebliskRefusal("INVALID_REQUEST", "The body is JSON: send Content-Type: application/json.", {
      reason: "content_type",
      http: 415,
    });
  const coding = one(headers, "content-encoding");
  if (coding !== undefined && coding.toLowerCase() !== "identity")
    throw new WebliskRefusal(
      "INVALID_REQUEST",
      "A body with a Content-Encoding is not read; send it as it is.",
      {
        reason: "content_encoding",
        http: 415,
      },
    );
  if (Number(one(headers, "content-length") ?? 0) > maxBytes) throw tooLarge(maxBytes);
};

/** The token of the header, else that of the body: the header wins. */
export const tokenOf = (headers: WireHeaders, body?: { readonly token?: unknown }): string | undefined => {
  const authorization = one(headers, "authorization");
  const given =
    authorization === undefined ? body?.token : /^Bearer +([\x21-\x7e]+) *$/i.exec(authorization)?.[1];
  return typeof given === "string" && given !== "" && given.length <= WEBLISK_TOKEN_MAX_CHARS
    ? given
    : undefined;
};
