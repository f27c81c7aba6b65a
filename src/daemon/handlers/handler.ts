/** The shape of a handler: checked data in, one Outcome out. Handlers are thin, and never see an envelope or a socket (architecture §6). */
import type { Effect } from "effect";
import type { Artifactizer } from "../../protocol/artifactize.ts";
import type { Caller } from "../../protocol/caller.ts";
import type { HoldfastError } from "../../protocol/errors.ts";
import type { Outcome } from "../../protocol/outcome.ts";
import type { RequestData, RequestName } from "../../protocol/requests.ts";
import type { RuntimeApi } from "../../runtime/api.ts";
import type { Once } from "../once.ts";
import type { DaemonStatus, Replies } from "../replies.ts";

/** The means of a handler. */
export interface Services {
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
export type Emit = (records: readonly string[]) => Promise<void> | undefined;

export interface Handler<N extends RequestName> {
  /**
   * The effect of the loss of its client. A `command` is carried through: half a kill is worse than an answer that
   * nobody reads. A `read` ends with the connection. An `open` one (it may never end by itself) ends as soon as the
   * client closes its sending side.
   */
  readonly lifetime: "command" | "read" | "open";
  run(
    services: Services,
    data: RequestData<N>,
    emit: Emit,
    /** The size that the client takes inline, in bytes of JSON. */
    inlineMax: number,
  ): Effect.Effect<Outcome<Replies[N]>, HoldfastError>;
}
