/**
 * Parts that the decoders of agents that are spoken with by JSON-RPC share: requests of theirs and their ids, a message that is
 * taken in, a session that cannot be opened, permissions that are asked for.
 */

import { asName } from "../../base/json.ts";
import type { WorkerError } from "../../protocol/records.ts";
import type { DecodedItem } from "../adapter.ts";
import { checkSessionId, type KindEvents } from "./events.ts";

/** JSON-RPC 2.0, Error object. */
export const INVALID_REQUEST = -32_600;
export const METHOD_NOT_FOUND = -32_601;

/** An id that an agent gave to a request of its own: a whole number, or a string no longer than a name. */
export type RequestId = number | string;

export const requestId = (id: unknown): RequestId | undefined =>
  typeof id === "number" && Number.isSafeInteger(id) ? id + 0 : (asName(id) ?? undefined);

/** As the key of an approval. Numbers and strings are different ids. */
export const keyOf = (id: RequestId): string => JSON.stringify(id);

/** It cannot be spoken of without its id. A text that JSON has to escape is no id either. */
export const usableId = (value: unknown): string | undefined =>
  typeof value === "string" &&
  checkSessionId(value) === "ok" &&
  JSON.stringify(value).length === value.length + 2
    ? value
    : undefined;

/** A command line sends lines; the model is given the text. */
export const withoutLineEnd = (text: string): string => text.replace(/\n$/, "");

export const CANCELLED: WorkerError = {
  code: "AGENT_FAILED",
  message: "The agent's turn was cancelled before it had answered.",
};
export const UNKNOWN_END: WorkerError = {
  code: "AGENT_FAILED",
  message: "The agent ended its turn for a reason that is not known.",
};

/** Whoever asked for these needs no answer any more. */
export const withdrawn = (asks: readonly { readonly id: RequestId }[]): readonly DecodedItem[] =>
  asks.map(({ id }) => ({ type: "approval_withdrawn", payload: { approval_id: keyOf(id) } }));

interface GivenMessage {
  readonly given: { readonly message_id: string; readonly acknowledged: boolean } | null;
  readonly turns_started: number;
}

interface DialogueOpening {
  readonly handshake: object | null;
  readonly refused: WorkerError | null;
}

/** Each takes the state and gives the next one; what is told, and what is to be said to the agent, goes into `out`. */
export const dialogueOf = (voice: KindEvents) => ({
  /**
   * The agent does something that it does for a message: it has taken it in. If none is open, it does it unasked: a bridge
   * warns before the first one, and a background task reports back after the last.
   */
  working: <S extends GivenMessage>(state: S, out: DecodedItem[]): S => {
    const { given } = state;
    if (given === null || given.acknowledged) return state;
    const { message_id } = given;
    out.push({
      type: "worker_message",
      payload: { message_id, state: "acknowledged", turn: state.turns_started },
    });
    return { ...state, given: { message_id, acknowledged: true } };
  },

  /** An answer to no step of the opening. */
  unasked: <S>(state: S, out: DecodedItem[]): S => {
    out.push(voice.unknown({ type: "response", reason: "nothing was asked" }));
    return state;
  },

  /** A failure in the opening is this incarnation's end. */
  refused: <S extends DialogueOpening>(state: S, error: WorkerError, out: DecodedItem[]): S => {
    out.push(voice.error(error), { type: "reply", closes: true });
    return { ...state, handshake: null, refused: error };
  },

  /** `line` refuses a request that is none for a permission. */
  notOffered: (method: unknown, line: string): readonly DecodedItem[] => [
    voice.status("The agent asked its client for something that is not offered.", { method: asName(method) }),
    { type: "reply", line },
  ],

  /** `line` denies what could only be allowed for longer than this call, which nobody has decided. */
  deniedAtOnce: (line: string): readonly DecodedItem[] => [
    voice.status(
      "The agent asked for a permission that cannot be given for one call: it was denied.",
      { denied: true },
      "tool",
    ),
    { type: "reply", line },
  ],
});
