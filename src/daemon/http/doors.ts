/**
 * Refuses requests before anything of them is read (docs/decisions/0051): a name that a page of another site has
 * pointed at this address, a page of another origin, a secret in a URL, or no token. Pure.
 */
import type { IncomingHttpHeaders } from "node:http";
import { isIP } from "node:net";
import { type HttpAddress, isLoopback } from "../../base/http-address.ts";
import { HoldfastError } from "../../protocol/errors.ts";
import { answerTokenIn } from "./answer-page.ts";

export interface RequestHead {
  readonly method: string;
  /** Path and query, as the client wrote them. */
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
}

/** The door that refused a request; `details.door` of its error, and a field in daemon.log. */
export type Door = "host" | "origin" | "secret_in_url" | "token";

export interface DoorRules {
  /** The address at which the daemon listens. */
  readonly address: HttpAddress;
  /** Further names by which clients may reach it, with their port if it is not the scheme's own. */
  readonly hosts: readonly string[];
}

const refused = (door: Door, sentence: string, suggestion: string): HoldfastError =>
  new HoldfastError(door === "token" ? "NOT_AUTHORISED" : "POLICY_VIOLATION", sentence, {
    details: { door },
    suggestion,
    phase: "validation",
  });

/** The reason to refuse a request whatever it asks for; undefined if there is none. */
export const refusalOf = (head: RequestHead, rules: DoorRules): HoldfastError | undefined => {
  const { host, origin, "sec-fetch-site": site } = head.headers;
  if (host === undefined || !isOwnHost(host, rules))
    return refused(
      "host",
      "The Host header names another server.",
      "Use the address that `agent daemon status` shows, or add the name to http.hosts in config.yaml.",
    );
  const isForeign = origin !== undefined && origin !== `http://${host}` && origin !== `https://${host}`;
  const isFromOther = site === "cross-site" || site === "same-site";
  if (isForeign || (isFromOther && !isVisit(head)))
    return refused(
      "origin",
      "A page of another origin sent this request.",
      "Send it from a program, or from the daemon's own page.",
    );
  if (/[?&](?:(?:access_|api_)?(?:token|secret)|api_key|authorization)=/i.test(head.url))
    return refused(
      "secret_in_url",
      "The URL holds a secret, and URLs end in logs.",
      "Revoke that token with `agent token revoke NAME`, and send a new one in the header Authorization: Bearer TOKEN.",
    );
  return undefined;
};

/** A person follows a link of another site to the dashboard, whose page holds no data, or one of a message to its question. */
const isVisit = ({ method, url, headers }: RequestHead): boolean =>
  method === "GET" &&
  (url.split("?")[0] === "/" || answerTokenIn(url) !== undefined) &&
  headers["sec-fetch-mode"] === "navigate" &&
  headers["sec-fetch-dest"] === "document";

/** A DNS name could be pointed here by anybody, so only names that the user wrote count; an IP address cannot be. */
const isOwnHost = (given: string, { address, hosts }: DoorRules): boolean => {
  const text = given.toLowerCase();
  if (hosts.some((host) => host.toLowerCase() === text)) return true;
  const [, bracketed, plain, digits = "80"] = /^(?:\[([^\]]*)\]|([^:]*))(?::(\d{1,5}))?$/.exec(text) ?? [];
  const name = bracketed ?? plain ?? "";
  if (Number(digits) !== address.port) return false;
  if (name === address.host || (name === "localhost" && isLoopback(address.host))) return true;
  return isWildcard(address.host) && (isIP(name) !== 0 || name === "localhost");
};

const isWildcard = (host: string): boolean => host === "0.0.0.0" || host === "::";

/** The secret of `Authorization: Bearer SECRET`; undefined without one. */
export const bearerOf = ({ authorization = "" }: IncomingHttpHeaders): string | undefined =>
  /^Bearer +([\x21-\x7e]+) *$/i.exec(authorization)?.[1];

export const noToken = (given: string | undefined): HoldfastError =>
  given === undefined
    ? refused(
        "token",
        "The request has no token.",
        "Make one with `agent token create NAME`, and send it in the header Authorization: Bearer TOKEN.",
      )
    : refused(
        "token",
        "The token is not known here: it was revoked, it has expired, or it belongs to another state directory.",
        "See the tokens with `agent token list`; only a named token opens HTTP.",
      );
