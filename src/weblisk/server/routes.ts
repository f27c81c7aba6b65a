/** The paths of a Weblisk server, and what each of them takes. Pure. */
import {
  WEBLISK_BODY_MAX_BYTES,
  WEBLISK_CHANNEL_BODY_MAX_BYTES,
  WEBLISK_TASK_BODY_MAX_BYTES,
} from "../../base/limits.ts";
import { WebliskRefusal } from "../wire/refusal.ts";

export type Endpoint =
  | "health"
  | "register"
  | "deregister"
  | "services"
  | "channel"
  | "task"
  | "task_look"
  | "task_cancel"
  | "agent_health"
  | "agent_describe"
  | "agent_execute"
  | "agent_message"
  | "agent_services"
  | "agent_event"
  | "pending"
  | "approve"
  | "event"
  | "audit"
  | "rotate"
  | "unserved";

export interface RouteRow<E extends string = Endpoint> {
  readonly endpoint: E;
  readonly methods: readonly string[];
  /** `:` stands for one segment. */
  readonly path: string;
  /** Without it anybody may ask. */
  readonly needsToken?: true;
  /** Bytes of the body; without it none is read. */
  readonly bodyMax?: number;
  /** A repeat, by X-Request-Id, gets the first answer again: nothing else tells that it was done. */
  readonly keepsAnswer?: true;
}

/** A body of a usual size, and a token. */
const PROVEN = { needsToken: true, bodyMax: WEBLISK_BODY_MAX_BYTES } as const;

const ROUTES: readonly RouteRow[] = [
  { endpoint: "health", methods: ["GET", "POST"], path: "/v1/health" },
  { endpoint: "register", methods: ["POST"], path: "/v1/register", bodyMax: WEBLISK_BODY_MAX_BYTES },
  { endpoint: "deregister", methods: ["DELETE"], path: "/v1/register", needsToken: true },
  { endpoint: "services", methods: ["GET"], path: "/v1/services", needsToken: true },
  {
    endpoint: "channel",
    methods: ["POST"],
    path: "/v1/channel",
    needsToken: true,
    bodyMax: WEBLISK_CHANNEL_BODY_MAX_BYTES,
    keepsAnswer: true,
  },
  {
    endpoint: "task",
    methods: ["POST"],
    path: "/v1/task",
    needsToken: true,
    bodyMax: WEBLISK_TASK_BODY_MAX_BYTES,
  },
  { endpoint: "task_look", methods: ["GET"], path: "/v1/task/:", needsToken: true },
  { endpoint: "task_cancel", methods: ["DELETE"], path: "/v1/task/:", needsToken: true },
  { endpoint: "agent_health", methods: ["GET", "POST"], path: "/agents/:/v1/health" },
  { endpoint: "agent_describe", methods: ["POST"], path: "/agents/:/v1/describe" },
  {
    endpoint: "agent_execute",
    methods: ["POST"],
    path: "/agents/:/v1/execute",
    needsToken: true,
    bodyMax: WEBLISK_TASK_BODY_MAX_BYTES,
  },
  { endpoint: "agent_message", methods: ["POST"], path: "/agents/:/v1/message", ...PROVEN },
  // A directory that nobody has signed is answered and not believed.
  { endpoint: "agent_services", methods: ["POST"], path: "/agents/:/v1/services" },
  { endpoint: "agent_event", methods: ["POST"], path: "/agents/:/v1/event", ...PROVEN },
  { endpoint: "pending", methods: ["GET"], path: "/v1/approve", needsToken: true },
  { endpoint: "approve", methods: ["POST"], path: "/v1/approve", ...PROVEN },
  { endpoint: "event", methods: ["POST"], path: "/v1/event", ...PROVEN },
  { endpoint: "audit", methods: ["GET"], path: "/v1/audit", needsToken: true },
  { endpoint: "rotate", methods: ["POST"], path: "/v1/rotate-key", ...PROVEN },
  // Paths of other vintages: nothing here is a strategy, or an observation of a site.
  { endpoint: "unserved", methods: ["GET", "POST"], path: "/v1/strategy", needsToken: true },
  { endpoint: "unserved", methods: ["GET", "POST"], path: "/v1/context", needsToken: true },
  { endpoint: "unserved", methods: ["GET"], path: "/v1/observations", needsToken: true },
];

export interface WireRoute<E extends string = Endpoint> extends Omit<RouteRow<E>, "methods" | "path"> {
  /** The segment in the place of `:`; "" without one. */
  readonly name: string;
}

const nameIn = (pattern: string, path: string): string | undefined => {
  if (pattern === path) return "";
  const at = pattern.indexOf(":");
  const after = pattern.slice(at + 1);
  if (at === -1 || !path.startsWith(pattern.slice(0, at)) || !path.endsWith(after)) return undefined;
  const end = path.length - after.length;
  return end < at || path.slice(at, end).includes("/") ? undefined : path.slice(at, end);
};

export const routeOf = (method: string, url: string): WireRoute => routeIn(ROUTES, method, url);

/** Throws NOT_FOUND for an unknown path, and INVALID_REQUEST (405) for a method that it does not take. */
export const routeIn = <E extends string>(
  table: readonly RouteRow<E>[],
  method: string,
  url: string,
): WireRoute<E> => {
  const [path = ""] = url.split("?");
  const rows = table.flatMap((row) => {
    const name = nameIn(row.path, path);
    return name === undefined ? [] : [{ ...row, name }];
  });
  const route = rows.find(({ methods }) => methods.includes(method));
  if (route !== undefined) return route;
  if (rows.length === 0)
    throw new WebliskRefusal(
      "NOT_FOUND",
      "There is no such path here; the documentation lists those that there are.",
      {
        reason: "path_unknown",
      },
    );
  const allow = rows.flatMap(({ methods }) => methods).join(", ");
  throw new WebliskRefusal("INVALID_REQUEST", `This path takes ${allow}.`, {
    reason: "method",
    http: 405,
    allow,
  });
};
