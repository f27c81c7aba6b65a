/**
 * The order in which mistakes of a spec are reported, the same for every kind (notes A.1 and A.4): a missing
 * prompt, then keys that the kind does not take, then all that its adapter finds. All mistakes are reported
 * at once, and the first one gives the error its code.
 */
import type { ErrorCode } from "../protocol/errors.ts";
import { HoldfastError } from "../protocol/errors.ts";
import { MCP_SERVERS, unsupportedKey, unsupportedKeys } from "../protocol/extensions.ts";
import type { WorkerSpec } from "../protocol/worker.ts";
import type { AgentAdapter } from "./adapter.ts";
import { keysOf } from "./facts.ts";

/**
 * The error of a spec, or undefined if it has no mistake. `more`: mistakes that do not depend on the kind.
 */
export const refusal = (
  adapter: Pick<
    AgentAdapter,
    "kind" | "capabilities" | "ways_of_running" | "validate" | "takes_output_schema"
  >,
  spec: WorkerSpec,
  more: readonly string[] = [],
): HoldfastError | undefined => {
  const found = adapter.validate(spec);
  const unsupported = [
    ...unsupportedKeys(spec, keysOf(adapter)).map((key) => unsupportedKey(key, spec.kind)),
    ...unsupportedFields(adapter, spec),
  ];
  // An adapter may report an unsupported key itself; report it only once.
  const unsaid = unsupported.filter((sentence) => !found.includes(sentence));
  return refused([...unsaid, ...found, ...more], unsupported);
};

const unsupportedFields = (
  { takes_output_schema, capabilities }: Pick<AgentAdapter, "takes_output_schema" | "capabilities">,
  { kind, output_schema, mcp }: WorkerSpec,
): readonly string[] => [
  ...(output_schema === undefined || takes_output_schema === true
    ? []
    : [
        `Kind ${kind} does not hold its model to a schema: leave out output_schema, or run it with \`output\` of the library, which checks the answer.`,
      ]),
  ...(mcp === undefined || capabilities.includes(MCP_SERVERS)
    ? []
    : [`Kind ${kind} takes no MCP servers (${MCP_SERVERS}): leave out mcp.`]),
];

/**
 * The error for these mistakes. If the first is an unsupported key, mistakes in the values of other keys do
 * not matter.
 */
export const refused = (
  problems: readonly string[],
  unsupported: readonly string[],
): HoldfastError | undefined => {
  const [first] = problems;
  if (first === undefined) return undefined;
  const code: ErrorCode = unsupported.includes(first) ? "UNSUPPORTED_CAPABILITY" : "INVALID_REQUEST";
  return new HoldfastError(code, problems.join(" "), { problems, phase: "validation" });
};
