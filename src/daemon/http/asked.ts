/** Requests of the control plane as HTTP asks for them: data in a body or a query, and the rest in headers. Pure. */
import type { IncomingHttpHeaders } from "node:http";
import { API_PARAMETERS_MAX } from "../../base/limits.ts";
import type { RequestName } from "../../protocol/requests.ts";
import { checkRequest, invalidRequest, type ParsedRequest } from "../request.ts";
import { dataOfQuery } from "./query.ts";

export const requestAsked = (
  name: RequestName,
  data: unknown,
  headers: IncomingHttpHeaders,
): ParsedRequest => {
  const { "idempotency-key": key, "x-request-id": id, "x-inline-max-bytes": inline } = headers;
  const keyed = typeof key === "string" ? { ...(data as object), idempotency_key: key } : data;
  const meta = {
    ...(typeof id === "string" ? { request_id: id } : {}),
    ...(typeof inline === "string" ? { inline_max_bytes: Number(inline) } : {}),
  };
  return checkRequest({ version: 1, command: name, data: keyed, meta });
};

/** A watch. `last` is the id of the last event that the client has, and wins over `after` of the query. */
export const eventsAsked = (
  query: URLSearchParams,
  last: string | readonly string[] | undefined,
): ParsedRequest => {
  const after = query.get("after");
  query.delete("after");
  const from = typeof last === "string" && last !== "" ? last : after;
  const asked = dataOfQuery("agent/watch", query);
  const cursor = from === null ? {} : { from: /^\d{1,15}$/.test(from) ? Number(from) : from };
  return checkRequest({ version: 1, command: "agent/watch", data: { ...asked, ...cursor } });
};

export const parametersOf = (query: string): URLSearchParams => {
  const parameters = new URLSearchParams(query);
  if (parameters.size > API_PARAMETERS_MAX)
    throw invalidRequest([`A query has at most ${API_PARAMETERS_MAX} parameters.`]);
  return parameters;
};
