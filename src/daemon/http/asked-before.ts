/**
 * The requests of GETs that were asked before, by their URL: a program that looks again and again asks with the same one, and
 * a URL always means the same. Only a request that was right is kept, so every other one is checked in full.
 */
import type { IncomingMessage } from "node:http";
import { API_URL_KEPT_MAX_CHARS, API_URLS_KEPT_MAX } from "../../base/limits.ts";
import type { CheckedRequest } from "../request.ts";

type AskedHead = Pick<IncomingMessage, "method" | "url" | "headers">;

export class AskedBefore {
  private readonly kept = new Map<string, CheckedRequest>();

  of(asked: AskedHead): CheckedRequest | undefined {
    return isByUrl(asked) ? this.kept.get(asked.url ?? "") : undefined;
  }

  keep(asked: AskedHead, checked: CheckedRequest): void {
    const { url = "" } = asked;
    if (!isByUrl(asked) || url.length > API_URL_KEPT_MAX_CHARS) return;
    if (this.kept.size === API_URLS_KEPT_MAX) this.kept.clear();
    // Several requests share it.
    Object.freeze(checked.request.data);
    this.kept.set(url, checked);
  }
}

/** Nothing but the URL says what is asked. */
const isByUrl = ({ method, headers }: AskedHead): boolean =>
  method === "GET" &&
  headers["idempotency-key"] === undefined &&
  headers["x-request-id"] === undefined &&
  headers["x-inline-max-bytes"] === undefined;
