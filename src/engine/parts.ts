/** The parts of one conversation, as its opening asks for them. Each provider is loaded when it is asked for. */
import { resolve } from "node:path";
import { ENGINE_CONTEXT_DEFAULT_TOKENS, ENGINE_STEPS_DEFAULT, ENGINE_TRIES_DEFAULT } from "../base/limits.ts";
import type { EngineOpening } from "../protocol/engine-lines.ts";
import type { Model } from "./model.ts";
import type { ConversationParts } from "./native.ts";
import { ANY_FORM } from "./next.ts";
import { NO_TOOLS, type ToolExecutor } from "./tools.ts";

interface ModelAndTools {
  readonly model: Model;
  readonly tools: ToolExecutor;
}

const SCRIPTED = "scripted/";

const modelAndTools = async (opening: EngineOpening): Promise<ModelAndTools> => {
  const { model, cwd } = opening;
  if (model.startsWith(SCRIPTED)) {
    const { modelOfScript, readScript, scriptedTools } = await import("./script.ts");
    const script = await readScript(resolve(cwd, model.slice(SCRIPTED.length)));
    return { model: modelOfScript(script, cwd), tools: scriptedTools(script.tools) };
  }
  const [{ makeSdkModel }, { providersOf }, { secretsOf }, { openTools }] = await Promise.all([
    import("./providers/sdk-model.ts"),
    import("./providers/provider.ts"),
    import("./secrets.ts"),
    import("./tools/opened.ts"),
  ]);
  const secrets = secretsOf(process.env);
  const providers = providersOf(opening.ground.providers, process.env);
  return {
    model: makeSdkModel({ providers, secrets, now: Date.now }),
    tools: await openTools(opening, secrets, process.env.HOLDFAST_RUN),
  };
};

/** `own`: the model and the tools of a program, in the place of those that the opening names. */
export const partsOf = async (
  opening: EngineOpening,
  own: Partial<ModelAndTools> = {},
): Promise<ConversationParts> => {
  const { output_schema, max_steps, max_tries, compaction = "trim", context_tokens } = opening.settings;
  const { model, tools = NO_TOOLS } = own;
  const parts = model === undefined ? { ...(await modelAndTools(opening)), ...own } : { model, tools };
  return {
    ...parts,
    rules: {
      steps_max: max_steps ?? ENGINE_STEPS_DEFAULT,
      tries_max: max_tries ?? ENGINE_TRIES_DEFAULT,
      compaction: compaction === "summarize" ? "summarize" : "trim",
      context_max_tokens: compaction === "off" ? null : (context_tokens ?? ENGINE_CONTEXT_DEFAULT_TOKENS),
      mistakeIn:
        output_schema === undefined ? ANY_FORM : (await import("./answer-form.ts")).checkOf(output_schema),
      random: Math.random,
    },
  };
};
