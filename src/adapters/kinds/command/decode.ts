/** Each line is text on the channel of its stream, with its own line end: the texts in order are what was printed. */
import type { Decoded, Line, SpoolName } from "../../adapter.ts";
import { voiceOf } from "../../decoding/events.ts";

const voice = voiceOf("command");

/** Nothing needs to be remembered between two lines. */
export type CommandState = Readonly<Record<string, never>>;

export const initial = (): CommandState => ({});

/** A line over the limit has a record of its own (worker_log_chunk), which the ingest writes. */
export const decode = (state: CommandState, line: Line, stream: SpoolName): Decoded<CommandState> => ({
  state,
  records: line.kind === "text" ? [voice.text(stream, line.text + line.end)] : [],
});
