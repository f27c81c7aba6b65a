/**
 * The wire between the client of a task elsewhere and its runtime: a variable has the opening, and stdin the prompt; the client
 * prints one `RemoteLine` a line. The adapter of the kind writes the one and decodes the others.
 */
import { orchestratorUrl, saysItsAddress } from "../base/orchestrator-url.ts";
import type { EngineError } from "./engine-lines.ts";
import type { JsonValue } from "./records.ts";
import type { Priority } from "./worker.ts";

/** The task itself. Each incarnation of a worker has the same one, so that an orchestrator knows it for the same task. */
export interface RemoteTaskOrder {
  /** 32 hex digits. */
  readonly task_id: string;
  /** Name of the agent, as its orchestrator lists it. */
  readonly agent: string;
  readonly inputs: { readonly [name: string]: JsonValue };
  readonly priority: Priority;
  /** Epoch seconds; absent: the client just asks no longer than WEBLISK_REMOTE_TASK_MAX_MS. */
  readonly deadline?: number;
  /** 32 hex digits. */
  readonly trace_id: string;
  /** A directory of the agent's machine; absent: the agent's own choice. */
  readonly workspace_root?: string;
}

/** An orchestrator elsewhere, and the name under which this side is known there. */
export interface RemotePlace {
  /** Without a path at its end that a request would add. */
  readonly url: string;
  /** The identity whose key signs, and the name that it registers; absent: the state directory's own. */
  readonly as?: string;
  /** The host may have an address of this machine or of a private network. */
  readonly isPrivateAllowed: boolean;
}

/** `address`: as a person writes it, and as it was checked. */
export const remotePlace = (address: string, as: string | undefined): RemotePlace => {
  const url = orchestratorUrl(address) ?? address;
  return { url, ...(as !== undefined && { as }), isPrivateAllowed: saysItsAddress(url) };
};

/** Its variable, whose value is a `RemoteOpening` as JSON. */
export const REMOTE_OPENING = "HOLDFAST_REMOTE_TASK";

/** It holds no secret: the client reads its key from the state directory. The inputs of its order are without the prompt. */
export interface RemoteOpening {
  readonly state_dir: string;
  readonly place: RemotePlace;
  readonly order: RemoteTaskOrder;
}

export type RemoteLine =
  /** The orchestrator has taken the task, or has it from an earlier incarnation. */
  | { readonly type: "given"; readonly task_id: string }
  /** Told once for each change of the reason. */
  | {
      readonly type: "waits";
      /** `place`: the agent is full, or asks less often. `peer`: nobody answers. `approval`: a person there is asked. */
      readonly for: "place" | "peer" | "approval";
    }
  | {
      readonly type: "end";
      readonly error: EngineError | null;
      /** The agent's answer, also of a task that failed; the empty text if there is none. */
      readonly text: string;
      /** Null if the agent did not end the task. */
      readonly duration_ms: number | null;
      /** Numbers of the lists in its result. */
      readonly changes: number;
      readonly observations: number;
    };
