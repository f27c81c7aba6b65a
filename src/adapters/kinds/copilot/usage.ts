/**
 * The usage of a run: Copilot CLI prints none, and writes it to a file at its end (`--usage-output-file`), tokens by model.
 * The file sums the whole session, so it is the run's only where the session is new.
 */
import { asCount, asName, asObject, parseLine } from "../../../base/json.ts";
import type { ModelUsage, Usage } from "../../../protocol/records.ts";
import { modelUsage } from "../../../protocol/usage.ts";
import { RUNTIME_DEFAULT } from "../../../protocol/words.ts";
import type { WorkerSpec } from "../../../protocol/worker.ts";
import { addUsage, boundedModels, NO_USAGE } from "../../decoding/usage.ts";
import { beginsSession } from "./session.ts";

const FILE = "usage.json";

/** The name of the file; undefined for a run that writes none: a sandbox, or another runtime, has no place for it. */
export const usageFile = (spec: WorkerSpec, incarnation: number): string | undefined =>
  incarnation === 1 &&
  beginsSession(spec) &&
  spec.sandbox === undefined &&
  (spec.runtime ?? RUNTIME_DEFAULT) === RUNTIME_DEFAULT
    ? FILE
    : undefined;

/** Input includes what was read from the provider's cache. A cost in dollars is not told. */
const usageOf = (metrics: unknown): Usage => {
  const told = asObject(asObject(metrics)?.usage);
  return {
    input_tokens: asCount(told?.inputTokens),
    output_tokens: asCount(told?.outputTokens),
    cached_tokens: asCount(told?.cacheReadTokens),
    reasoning_tokens: asCount(told?.reasoningTokens),
    cost_usd: null,
  };
};

/** Nothing without a file, and for a text that is none of its files. */
export const usageIn = (
  text: string | undefined,
): { readonly usage: Usage; readonly models: readonly ModelUsage[] } => {
  const told = parseLine(text ?? "");
  const metrics = typeof told === "string" ? undefined : asObject(told.modelMetrics);
  const models = Object.entries(metrics ?? {}).map(([model, one]) => [asName(model), usageOf(one)] as const);
  return {
    usage: models.reduce<Usage>((sum, [, usage]) => addUsage(sum, usage), NO_USAGE),
    models: boundedModels(models.map(([model, usage]) => modelUsage(true, model, usage))),
  };
};
