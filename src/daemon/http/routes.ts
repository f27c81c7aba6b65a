/** The meaning of a method and a path. Pure. */
import { nearest } from "../../base/suggest.ts";
import { HoldfastError } from "../../protocol/errors.ts";
import { isDigest } from "../../protocol/forms.ts";
import { isRequestName, type RequestName, Requests } from "../../protocol/requests.ts";
import { HANDLERS } from "../handlers/index.ts";

export type Route =
  /** A request of the control plane, `/api/NAMESPACE/VERB`. */
  | { readonly to: "request"; readonly name: RequestName; readonly from: "body" | "query" }
  | { readonly to: "events" }
  | { readonly to: "artifact"; readonly digest: string }
  | { readonly to: "openapi" }
  | { readonly to: "metrics" }
  | { readonly to: "health" };

/** Why there is nothing; `allow` names the methods that are possible at this path. */
interface Nowhere {
  readonly to: "nothing";
  readonly error: HoldfastError;
  readonly allow?: string;
}
export type RouteOrNone = Route | Nowhere;

const READERS: Readonly<Record<string, Route>> = {
  "/api/events": { to: "events" },
  "/api/openapi.json": { to: "openapi" },
  "/metrics": { to: "metrics" },
  "/healthz": { to: "health" },
};

const nowhere = (sentence: string, suggestion?: string): Nowhere => ({
  to: "nothing",
  error: new HoldfastError("UNKNOWN_COMMAND", sentence, {
    phase: "validation",
    ...(suggestion === undefined ? {} : { suggestion }),
  }),
});

const notAllowed = (method: string, allow: string): Nowhere => ({
  ...nowhere(`${method} is not possible here.`, `Use ${allow}.`),
  allow,
});

/** Paths are compared as they are written: no escapes, no dots, no double slashes. */
export const routeOf = (method: string, path: string): RouteOrNone => {
  const isReading = method === "GET" || method === "HEAD";
  const reader = Object.hasOwn(READERS, path) ? READERS[path] : artifactAt(path);
  if (reader !== undefined) return isReading ? reader : notAllowed(method, "GET");
  const name = /^\/api\/([a-z-]+\/[a-z-]+)$/.exec(path)?.[1];
  if (name === undefined) return nowhere("There is nothing at this path.", "See /api/openapi.json.");
  if (!isRequestName(name)) {
    const near = nearest(name, Object.keys(Requests));
    return nowhere(
      `There is no command ${name}.`,
      near === undefined ? undefined : `Did you mean /api/${near}?`,
    );
  }
  if (method === "POST") return { to: "request", name, from: "body" };
  if (isRead(name))
    return isReading ? { to: "request", name, from: "query" } : notAllowed(method, "GET or POST");
  return notAllowed(method, "POST");
};

/** Whether a request changes nothing, so that GET may ask for it. */
export const isRead = (name: RequestName): boolean => HANDLERS[name].lifetime !== "command";

const artifactAt = (path: string): Route | undefined => {
  const digest = /^\/api\/artifacts\/([a-z0-9:]+)$/.exec(path)?.[1];
  return digest !== undefined && isDigest(digest) ? { to: "artifact", digest } : undefined;
};
