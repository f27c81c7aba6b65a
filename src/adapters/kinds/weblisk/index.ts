/** Kind `weblisk`: an agent of another orchestrator, whose task a client in a process of its own gives and awaits. */
import type { AgentAdapter } from "../../adapter.ts";
import { adapterOf } from "../../facts.ts";
import { decode } from "./decode.ts";
import { facts } from "./facts.ts";
import { finish } from "./outcome.ts";
import { planOn } from "./plan.ts";
import { initial, type RemoteState } from "./state.ts";

/** The kind under a daemon, with the keys of its state directory. */
export const webliskOn = (stateDir: string): AgentAdapter<RemoteState> =>
  adapterOf(facts, {
    streams: ["stdout"],
    plan: planOn(stateDir),
    decoder_version: 1,
    initial,
    decode,
    finish,
  });

/** Without a state directory there is no key; the client then says so. */
export const weblisk = webliskOn("");
