/**
 * Requests that were in order, and are then refused by the agent's CLI or its provider when it runs: told in the words that the
 * agent-event notes (A.5, runtime rejection messages) fix, without a word of what was printed. An older CLI that does not know a flag
 * does so, and a model that the account has not.
 */
import type { WorkerError } from "../../protocol/records.ts";

/** By the flags of the CLIs that we give them by; `unconfined` is what external_sandbox and --permission allow ask for. */
const BY_FLAG: Readonly<Record<string, "add_dirs" | "model" | "unconfined">> = {
  "--add-dir": "add_dirs",
  "--include-directories": "add_dirs",
  "--model": "model",
  "-m": "model",
  "--permission-mode": "unconfined",
  "--dangerously-bypass-approvals-and-sandbox": "unconfined",
};

/** As commander (claude), clap (codex) and yargs (gemini) name a flag that they do not know, or do not take with its value. */
const REFUSED_FLAG = [
  /^error: unknown option '(--?[a-z-]+)/im,
  /^error: option '(?:-\w, )?(--?[a-z-]+)[^']*' argument '.*' is invalid\b/im,
  /^error: unexpected argument '(--?[a-z-]+)/im,
  /^error: invalid value '.*' for '(--?[a-z-]+)/im,
  /^unknown arguments?: ([a-z-]+)/im,
];

/** How much of what was printed is looked at, in UTF-16 units. */
const LOOKED_AT_MAX_UNITS = 8_192;

/** The provider, or the CLI, does not know the model or does not allow it. */
export const modelRejected = (
  agent_kind: string,
  code: "INVALID_REQUEST" | "PROVIDER_BAD_REQUEST" = "PROVIDER_BAD_REQUEST",
): WorkerError => ({
  code,
  message: `${agent_kind} backend error: model rejected by runtime (details redacted)`,
});

/** The flag of ours in what a CLI prints to stderr before it exits; undefined where no flag of ours is named. */
export const rejectedFlag = (agent_kind: string, stderr: string): WorkerError | undefined => {
  const head = stderr.slice(0, LOOKED_AT_MAX_UNITS);
  const named = REFUSED_FLAG.flatMap((pattern) => pattern.exec(head)?.[1] ?? [])[0];
  if (named === undefined) return undefined;
  const flag = named.startsWith("-") ? named : `--${named}`;
  switch (Object.hasOwn(BY_FLAG, flag) ? BY_FLAG[flag] : undefined) {
    case "add_dirs":
      return { code: "INVALID_REQUEST", message: "add_dirs rejected by runtime" };
    case "model":
      return modelRejected(agent_kind, "INVALID_REQUEST");
    case "unconfined":
      return {
        code: "INVALID_REQUEST",
        message: "external_sandbox (or permission allow) rejected by runtime",
      };
    default:
      return undefined;
  }
};
