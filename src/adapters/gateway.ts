/**
 * The order in which a spec is refused, the same for every kind (notes A.1 and A.4): a prompt that is needed and missing, then keys that
 * the kind does not take, then all that its adapter finds. All mistakes are told at once; the first one names the error.
 */
import type { ErrorCode } from "../protocol/errors.ts";
import { HoldfastError } from "../protocol/errors.ts";
import { unsupportedKey, unsupportedKeys } from "../protocol/extensions.ts";
import type { WorkerSpec } from "../protocol/worker.ts";
import type { AgentAdapter } from "./adapter.ts";
import { keysOf } from "./facts.ts";

/** `more`: what is wrong beyond the kind. Undefined where nothing is. */
export const refusal = (
  adapter: Pick<AgentAdapter, "kind" | "capabilities" | "ways_of_running" | "validate">,
  spec: WorkerSpec,
  more: readonly string[] = [],
): HoldfastError | undefined => {
  const found = adapter.validate(spec);
  const unsupported = unsupportedKeys(spec, keysOf(adapter)).map((key) => unsupportedKey(key, spec.kind));
  // An adapter that looks at its own keys alone is not the only one that looks.
  const unsaid = unsupported.filter((sentence) => !found.includes(sentence));
  return refused([...unsaid, ...found, ...more], unsupported);
};

/** The error of these mistakes: where the first one is a key that is not supported, the values of others do not matter. */
export const refused = (
  problems: readonly string[],
  unsupported: readonly string[],
): HoldfastError | undefined => {
  const [first] = problems;
  if (first === undefined) return undefined;
  const code: ErrorCode = unsupported.includes(first) ? "UNSUPPORTED_CAPABILITY" : "INVALID_REQUEST";
  return new HoldfastError(code, problems.join(" "), { problems, phase: "validation" });
};
