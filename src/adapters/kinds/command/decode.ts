/**
 * Each line is text on the channel of its stream, with its own line end, so that the texts in order are the
 * output.
 */
import type { Decoded, Line, SpoolName } from "../../adapter.ts";
import { voiceOf } from "../../decoding/events.ts";

const voice = voiceOf("command");

/** No state is needed between two lines. */
export type CommandState = Readonly<Record<string, never>>;

export const initial = (): CommandState => ({});

/** The ingest records a line over the limit (worker_log_chunk). */
export const decode = (state: CommandState, line: Line, stream: SpoolName): Decoded<CommandState> => ({
  state,
  records: line.kind === "text" ? [voice.text(stream, line.text + line.end)] : [],
});
