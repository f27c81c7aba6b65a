/**
 * A command has no terminal event: its exit is its outcome, and its final answer is stdout, which is in the
 * log.
 */
import type { ExitFacts } from "../../adapter.ts";
import { voiceOf } from "../../decoding/events.ts";
import { byExit, type FinishVerdict } from "../../decoding/verdict.ts";
import type { CommandState } from "./decode.ts";

const voice = voiceOf("command");

export const finish = (_state: CommandState, exit: ExitFacts): FinishVerdict => byExit(voice, exit);
