/**
 * The messages between the gateway's process and the Weblisk server that keeps it: the gateway asks for decisions and tasks, since
 * places of agents are given by one table alone. An error crosses as its code, its sentence and its facts.
 */
import type { HttpAddress } from "../../base/http-address.ts";
import { asHoldfastError, type ErrorCode, type ErrorDetails, HoldfastError } from "../../protocol/errors.ts";
import type { WebliskCode } from "../../protocol/weblisk-errors.ts";
import type { ServedAgent, TaskWorkers } from "../server/ports.ts";
import type { TaskTable } from "../server/tasks.ts";
import type { TlsFiles } from "../server/tls-files.ts";
import { type RefusalFacts, WebliskRefusal } from "../wire/refusal.ts";
import type { OwnHub, PeerDesk } from "./ports.ts";

/** Requests of the gateway to its server. */
export type GatewayCalls = PeerDesk &
  Pick<TaskTable, "execute" | "outcome" | "cancel"> &
  Pick<TaskWorkers, "isReachable">;

export const GATEWAY_CALLS = [
  ...(["show", "meet", "rekey", "revoke", "notify", "admit", "settle", "audit"] as const),
  ...(["execute", "outcome", "cancel", "isReachable"] as const),
] satisfies readonly (keyof GatewayCalls)[];

export interface GatewayOpening {
  readonly stateDir: string;
  readonly version: string;
  readonly agents: readonly ServedAgent[];
  readonly offers: Readonly<Record<string, string>>;
  readonly hub_id: string;
  /** As others know it; without one it is the address at which it listens. */
  readonly url?: string;
  readonly listen: HttpAddress;
  /** Read anew by each process. */
  readonly tls?: TlsFiles;
}

export type ServerMessage =
  | { readonly type: "open"; readonly opening: GatewayOpening }
  | { readonly type: "answer"; readonly id: number; readonly value: unknown }
  | { readonly type: "failure"; readonly id: number; readonly failure: CallFailure };

export type GatewayMessage =
  | { readonly type: "listening"; readonly address: HttpAddress; readonly own: OwnHub }
  | { readonly type: "unable"; readonly failure: CallFailure }
  | {
      readonly type: "call";
      readonly id: number;
      readonly name: keyof GatewayCalls;
      readonly args: readonly unknown[];
    };

export type CallFailure =
  | {
      readonly kind: "refusal";
      readonly code: WebliskCode;
      readonly message: string;
      readonly facts: RefusalFacts;
    }
  | {
      readonly kind: "error";
      readonly code: ErrorCode;
      readonly message: string;
      readonly info: ErrorDetails;
    };

export const failureOf = (thrown: unknown): CallFailure => {
  if (thrown instanceof WebliskRefusal) {
    const { cause: _, ...facts } = thrown.facts;
    return { kind: "refusal", code: thrown.code, message: thrown.message, facts };
  }
  const { code, message, info } = asHoldfastError(thrown);
  const { cause: _, ...rest } = info;
  return { kind: "error", code, message, info: rest };
};

export const thrownBy = (failure: CallFailure): Error =>
  failure.kind === "refusal"
    ? new WebliskRefusal(failure.code, failure.message, failure.facts)
    : new HoldfastError(failure.code, failure.message, failure.info);
