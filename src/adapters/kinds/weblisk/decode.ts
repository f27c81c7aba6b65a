/** Decodes the lines of the client (protocol/weblisk-lines.ts). Each field is read as if anybody could have printed it. */
import { asCount, asName, asString, type JsonObject } from "../../../base/json.ts";
import type { DecodedItem } from "../../adapter.ts";
import { decoderOf } from "../../decoding/decoder.ts";
import { errorIn } from "../../decoding/error-in.ts";
import { turnCompleted, voiceOf } from "../../decoding/events.ts";
import { keptText } from "../../decoding/final-text.ts";
import { turnBegan } from "../../decoding/steps.ts";
import { NO_USAGE } from "../../decoding/usage.ts";
import type { RemoteState } from "./state.ts";

const voice = voiceOf("weblisk");

const WAITS: Readonly<Record<string, string>> = {
  place: "The agent has no room for the task yet, or is asked less often.",
  peer: "The orchestrator does not answer: the client tries again.",
  approval: "The agent waits for an approval of a person there.",
};

const onEnd = (before: RemoteState, line: JsonObject, out: DecodedItem[]): RemoteState => {
  const state = before.turns_started > before.turns_ended ? before : turnBegan(before, out);
  const error = errorIn(line.error);
  const text = asString(line.text) ?? "";
  if (text !== "") out.push(voice.text("assistant", text));
  const [changes, observations] = [asCount(line.changes), asCount(line.observations)];
  if (changes + observations > 0)
    out.push(
      voice.status("The result also has lists, which stay in the raw output.", { changes, observations }),
    );
  if (error !== null) out.push(voice.error(error));
  const duration_ms = typeof line.duration_ms === "number" ? asCount(line.duration_ms) : null;
  out.push(turnCompleted(state.turns_started, NO_USAGE, duration_ms, error));
  return {
    ...state,
    turns_ended: state.turns_started,
    text: error === null ? keptText(text) : null,
    failed: error,
  };
};

const onLine = (state: RemoteState, line: JsonObject, out: DecodedItem[]): RemoteState => {
  switch (line.type) {
    case "given": {
      const begun = state.turns_started > state.turns_ended ? state : turnBegan(state, out);
      out.push(voice.status("The orchestrator has the task.", { task_id: asName(line.task_id) }));
      return begun;
    }
    case "waits": {
      const reason = asName(line.for) ?? "";
      const sentence = Object.hasOwn(WAITS, reason) ? WAITS[reason] : undefined;
      out.push(sentence === undefined ? voice.unknown({ type: "waits" }) : voice.status(sentence));
      return state;
    }
    case "end":
      return onEnd(state, line, out);
  }
  out.push(voice.unknown({ type: asName(line.type) }));
  return state;
};

export const decode = decoderOf(voice, onLine, (state, { type }) => (type === "end" ? undefined : state));
