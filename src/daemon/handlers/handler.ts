/** The shape of a handler: checked data in, one Outcome out. Handlers are thin, and never see an envelope or a socket (architecture §6). */
import { Effect } from "effect";
import type { Artifactizer } from "../../protocol/artifactize.ts";
import type { Caller } from "../../protocol/caller.ts";
import type { ProgressMeta } from "../../protocol/envelope-v1.ts";
import type { HoldfastError } from "../../protocol/errors.ts";
import { type Outcome, success } from "../../protocol/outcome.ts";
import type { RequestData, RequestName } from "../../protocol/requests.ts";
import type { RuntimeApi } from "../../runtime/api.ts";
import type { Once } from "../once.ts";
import type { DaemonStatus, Replies } from "../replies.ts";

/** The means of a handler. */
export interface HandlerServices {
  readonly runtime: RuntimeApi;
  /** For what is too large for an envelope. */
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
  >;
  /** The caller on this connection: found out when something is to be changed. */
  readonly caller: () => Caller;
  /** The keeper of the first answers of idempotency keys. */
  readonly once: Once;
  /** Shut the runtime down; once the request is answered the daemon exits. */
  readonly shutdown: (agents: "kill" | "keep", reason: string) => Effect.Effect<void, HoldfastError>;
}

/** Send records, as JSON texts, as one progress envelope each. If the client is behind, it resolves when it has taken enough to send more. */
export type Emit = (records: readonly string[], meta?: ProgressMeta) => Promise<void> | undefined;

export interface RequestHandler<N extends RequestName> {
  /**
   * The effect of the loss of its client. A `command` is carried through: half a kill is worse than an answer that
   * nobody reads. A `read` ends with the connection. An `open` one (it may never end by itself) ends as soon as the
   * client closes its sending side.
   */
  readonly lifetime: "command" | "read" | "open";
  /** With an idempotency key a repeat gets the first answer; others hand their key to the runtime. */
  readonly isKeyed?: true;
  run(
    services: HandlerServices,
    data: RequestData<N>,
    emit: Emit,
    /** The size that the client takes inline, in bytes of JSON. */
    inlineMax: number,
  ): Effect.Effect<Outcome<Replies[N]>, HoldfastError>;
}

export type Handlers<N extends RequestName> = { readonly [Name in N]: RequestHandler<Name> };

/** A handler that only hands on what the runtime answers. */
export const read = <N extends RequestName>(
  call: (runtime: RuntimeApi, data: RequestData<N>) => Effect.Effect<Replies[N], HoldfastError>,
): RequestHandler<N> => ({
  lifetime: "read",
  run: ({ runtime }, data) => Effect.map(call(runtime, data), (reply) => success(reply)),
});

/** The same for what changes something: the runtime is told who asks. */
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

/** Under an idempotency key it is done once. */
export const keyed = <N extends RequestName>(handler: RequestHandler<N>): RequestHandler<N> => ({
  ...handler,
  isKeyed: true,
});
