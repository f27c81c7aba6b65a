/**
 * The shape of a handler: checked data in, one Outcome out. Handlers are thin and never see an envelope or a
 * socket (architecture §6).
 */
import { Effect } from "effect";
import type { Artifactizer } from "../../protocol/artifactize.ts";
import type { Caller } from "../../protocol/caller.ts";
import type { ProgressMeta } from "../../protocol/envelope-v1.ts";
import type { HoldfastError } from "../../protocol/errors.ts";
import { type Outcome, success } from "../../protocol/outcome.ts";
import type { RequestData, RequestName } from "../../protocol/requests.ts";
import type { RuntimeApi } from "../../runtime/api.ts";
import type { ClusterApi } from "../cluster-api.ts";
import type { NotificationsApi } from "../notifications-api.ts";
import type { Once } from "../once.ts";
import type { DaemonStatus, Replies } from "../replies.ts";

/** The services that a handler may use. */
export interface HandlerServices {
  readonly runtime: RuntimeApi;
  /** Stores values that are too large for an envelope. */
  readonly artifactize: Artifactizer;
  /** The facts of `daemon/status` that the runtime does not know. */
  readonly facts: () => Pick<
    DaemonStatus,
    | "socket"
    | "connections"
    | "requests_in_flight"
    | "loop_lag_ms"
    | "defects"
    | "health"
    | "configuration_changed"
    | "callers"
    | "http"
    | "served_by"
    | "telemetry"
  >;
  /** Identifies the caller of this connection; called when a request wants to change something. */
  readonly caller: () => Caller;
  /** That of this request, where a repeat is answered here (`once`). */
  readonly idempotency_key?: string | undefined;
  /** Keeps the first answers of idempotency keys. */
  readonly once: Once;
  readonly notifications: NotificationsApi;
  readonly cluster: ClusterApi;
  /** Shuts the runtime down. The daemon exits once the request is answered. */
  readonly shutdown: (
    agents: "kill" | "keep",
    reason: string,
    by?: string,
  ) => Effect.Effect<void, HoldfastError>;
}

/**
 * Sends each record, as JSON text, in a progress envelope. If the client is behind, the promise resolves when
 * more can be sent.
 */
export type Emit = (records: readonly string[], meta?: ProgressMeta) => Promise<void> | undefined;

export interface RequestHandler<N extends RequestName> {
  /**
   * The effect of losing the client. A `command` is completed, because half a kill is worse than an unread
   * answer. A `read` ends with the connection. An `open` request, which may never end by itself, ends as soon
   * as the client closes its sending side.
   */
  readonly lifetime: "command" | "read" | "open";
  /**
   * A repeat with the same idempotency key gets the first answer. Other handlers pass the key to the runtime.
   */
  readonly isKeyed?: true;
  run(
    services: HandlerServices,
    data: RequestData<N>,
    emit: Emit,
    /** The size that the client accepts inline, in bytes of JSON. */
    inlineMax: number,
  ): Effect.Effect<Outcome<Replies[N]>, HoldfastError>;
}

export type Handlers<N extends RequestName> = { readonly [Name in N]: RequestHandler<Name> };

/** A handler that returns the answer of the runtime. */
export const read = <N extends RequestName>(
  call: (runtime: RuntimeApi, data: RequestData<N>) => Effect.Effect<Replies[N], HoldfastError>,
): RequestHandler<N> => ({
  lifetime: "read",
  run: ({ runtime }, data) => Effect.map(call(runtime, data), (reply) => success(reply)),
});

/** The same for a request that changes something: the runtime gets the caller. */
export const command = <N extends RequestName>(
  call: (
    runtime: RuntimeApi,
    data: RequestData<N> & { readonly caller: Caller },
  ) => Effect.Effect<Replies[N], HoldfastError>,
): RequestHandler<N> => ({
  lifetime: "command",
  run: ({ runtime, caller }, data) =>
    Effect.map(call(runtime, { ...data, caller: caller() }), (reply) => success(reply)),
});

/** The same request with one idempotency key is carried out once. */
export const keyed = <N extends RequestName>(handler: RequestHandler<N>): RequestHandler<N> => ({
  ...handler,
  isKeyed: true,
});
