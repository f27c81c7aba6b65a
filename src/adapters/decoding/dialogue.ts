/**
 * Parts that the decoders of JSON-RPC agents share: ids of the agent's requests, acknowledged messages,
 * sessions that cannot be opened, and permission requests.
 */

import { asName } from "../../base/json.ts";
import type { WorkerError } from "../../protocol/records.ts";
import type { DecodedItem } from "../adapter.ts";
import { checkSessionId, type KindEvents } from "./events.ts";

/** JSON-RPC 2.0, Error object. */
export const INVALID_REQUEST = -32_600;
export const METHOD_NOT_FOUND = -32_601;

/** The id of an agent's own request: an integer, or a string no longer than a name. */
export type RequestId = number | string;

export const requestId = (id: unknown): RequestId | undefined =>
  typeof id === "number" && Number.isSafeInteger(id) ? id + 0 : (asName(id) ?? undefined);

/** The id as the key of an approval. Numbers and strings are different ids. */
export const keyOf = (id: RequestId): string => JSON.stringify(id);

/**
 * A session id, or undefined if it cannot be used: the id is needed for every later request. A text that JSON
 * has to escape is not an id either.
 */
export const usableId = (value: unknown): string | undefined =>
  typeof value === "string" &&
  checkSessionId(value) === "ok" &&
  JSON.stringify(value).length === value.length + 2
    ? value
    : undefined;

/** A command line sends whole lines, but the model gets the text without the line end. */
export const withoutLineEnd = (text: string): string => text.replace(/\n$/, "");

export const CANCELLED: WorkerError = {
  code: "AGENT_FAILED",
  message: "The agent's turn was cancelled before it had answered.",
};
export const UNKNOWN_END: WorkerError = {
  code: "AGENT_FAILED",
  message: "The agent ended its turn for an unknown reason.",
};

/** Withdraws requests that no longer need an answer. */
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

/** Each step takes the state and returns the next one, and pushes records and replies to `out`. */
export const dialogueOf = (voice: KindEvents) => ({
  /**
   * The agent does something that it does only for a message, so it has taken the open message in. Without an
   * open message the agent acts on its own: a bridge warns before the first message, and a background task
   * reports after the last.
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

  /** A response that belongs to no step of the opening. */
  unasked: <S>(state: S, out: DecodedItem[]): S => {
    out.push(voice.unknown({ type: "response", reason: "nothing was asked" }));
    return state;
  },

  /** A failure in the opening ends this incarnation. */
  refused: <S extends DialogueOpening>(state: S, error: WorkerError, out: DecodedItem[]): S => {
    out.push(voice.error(error), { type: "reply", closes: true });
    return { ...state, handshake: null, refused: error };
  },

  /** `line` refuses a request that is not for a permission. */
  notOffered: (method: unknown, line: string): readonly DecodedItem[] => [
    voice.status("The agent requested something that its client does not offer.", { method: asName(method) }),
    { type: "reply", line },
  ],

  /** `line` denies a permission that would last longer than this call, because nobody has granted that. */
  deniedAtOnce: (line: string): readonly DecodedItem[] => [
    voice.status(
      "The agent asked for a permission that cannot be given for a single call: it was denied.",
      { denied: true },
      "tool",
    ),
    { type: "reply", line },
  ],
});
