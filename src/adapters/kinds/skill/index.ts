/**
 * Kind `skill`. Its stdout is read as a whole once it has ended (skills/answer), so its lines are only recorded; the exit
 * alone says here how the run went. Its program is that of its manifest (runtime/control/skill-launch).
 */
import type { AgentAdapter, Decoded, Line, SpoolName } from "../../adapter.ts";
import { voiceOf } from "../../decoding/events.ts";
import { byExit } from "../../decoding/verdict.ts";
import { adapterOf } from "../../facts.ts";
import { facts } from "./facts.ts";

const voice = voiceOf(facts.kind);

type SkillState = Readonly<Record<string, never>>;

const decode = (state: SkillState, line: Line, stream: SpoolName): Decoded<SkillState> => ({
  state,
  records: line.kind === "text" ? [voice.text(stream, line.text + line.end)] : [],
});

export const skill: AgentAdapter<SkillState> = adapterOf(facts, {
  streams: ["stdout", "stderr"],
  plan: ({ spec }) => ({ argv: spec.argv, env: {}, stdin: { kind: "text", text: spec.prompt ?? "{}" } }),
  decoder_version: 1,
  initial: () => ({}),
  decode,
  finish: (_state, exit) => byExit(voice, exit),
});
