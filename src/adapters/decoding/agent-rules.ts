/** Mistakes of a spec that are the same for every kind with a model. */
import { ARG_MAX_BYTES } from "../../base/limits.ts";
import { agentOptions, extensionProblems, type ValueCheck } from "../../protocol/extensions.ts";
import { secretIn } from "../../protocol/mcp-references.ts";
import type { WorkerSpec } from "../../protocol/worker.ts";

/** The mistake of a fork, for a kind whose CLI cannot fork. A fork without a session has its own sentence. */
export const forkProblems = ({ kind, fork }: WorkerSpec): readonly string[] =>
  fork ? [`Kind ${kind} cannot fork a session: leave out --fork to continue the session itself.`] : [];

/** The mistake of a directory that a CLI would split at its commas, because it cannot escape one. */
export const commaProblems = (spec: WorkerSpec, cli: string): readonly string[] =>
  agentOptions(spec)
    .addDirs.filter((dir) => dir.includes(","))
    .map(
      (dir) =>
        `${cli} cannot use a directory with a comma in its path: make a link to ${dir} at a path without a comma.`,
    );

/** The mistake of a secret in a header, for a kind that is told the value itself; `why` it must not be. */
export const headerProblems = ({ mcp = {} }: WorkerSpec, why: string): readonly string[] =>
  Object.entries(mcp).flatMap(([name, server]) =>
    "url" in server && Object.values(server.headers).some((value) => secretIn(value) !== undefined)
      ? [
          `A header of MCP server ${name} refers to a secret, which this agent cannot be told: ${why}. Use a program as the server, whose env may hold it.`,
        ]
      : [],
  );

/** The agent asks its host before it uses a tool, instead of getting its permissions at the start. */
export const asksPermission = ({ permission, permission_rules }: WorkerSpec): boolean =>
  permission === "ask" || permission_rules.length > 0;

/** The rules of one kind, besides the shared ones. */
export interface OwnRules {
  /** It takes messages. */
  readonly converses?: boolean;
  /** It can ask for permission. */
  readonly asks?: boolean;
  /** The checks for values of keys that only this kind has. */
  readonly keys?: Readonly<Record<string, ValueCheck>>;
}

/**
 * One sentence for each mistake, with what to do, in the order of notes A.4: prompt, keys, values, then the
 * kind's own checks. `capabilities` are the kind's own.
 */
export const agentProblems = (
  spec: WorkerSpec,
  capabilities: readonly string[],
  { converses = false, asks = false, keys: own = {} }: OwnRules = {},
): readonly string[] => {
  const problems: string[] = [];
  // Without a prompt, the first message begins a conversation.
  const mayWait = converses && spec.interactive && spec.prompt === undefined;
  if (!mayWait && (spec.prompt ?? "").trim() === "") {
    problems.push(
      "The prompt must not be empty: give it as an argument, with --prompt-file, or as `-` on stdin.",
    );
  }
  problems.push(...extensionProblems(spec, capabilities, own));
  if (spec.interactive && !converses)
    problems.push(`Kind ${spec.kind} takes no --interactive: its prompt is the whole of its stdin.`);
  if (!asks && asksPermission(spec)) {
    problems.push(
      `Kind ${spec.kind} cannot ask for permission: use --permission deny, or --permission allow in a sandbox.`,
    );
  }
  if (spec.argv.some((arg) => arg.includes("\0")))
    problems.push("An extra argument contains a NUL character.");
  if (spec.argv.some((arg) => Buffer.byteLength(arg) >= ARG_MAX_BYTES)) {
    problems.push(
      `An extra argument is over ${ARG_MAX_BYTES - 1} bytes, the kernel's limit: pass long text as the prompt.`,
    );
  }
  const { session, fork, model } = agentOptions(spec);
  // A value that begins with a dash would be read as a flag.
  if (session?.by === "id" && session.id.startsWith("-"))
    problems.push("A session id does not begin with a dash.");
  if (model?.startsWith("-")) problems.push("A model's name does not begin with a dash.");
  if (fork && session === undefined)
    problems.push("There is nothing to fork: name the session with --session.");
  return problems;
};
