/**
 * Errors for valid requests that the agent's CLI or its provider refuses at run time: an older CLI does not
 * know a flag, or an account has no access to a model. The sentences are fixed by the agent-event notes (A.5,
 * runtime rejection messages) and quote nothing that was printed.
 */
import type { WorkerError } from "../../protocol/records.ts";

/** The field of the spec behind each flag. `unconfined`: external_sandbox or --permission allow. */
const BY_FLAG: Readonly<Record<string, "add_dirs" | "model" | "unconfined">> = {
  "--add-dir": "add_dirs",
  "--include-directories": "add_dirs",
  "--model": "model",
  "-m": "model",
  "--permission-mode": "unconfined",
  "--dangerously-bypass-approvals-and-sandbox": "unconfined",
};

/**
 * The messages of commander (claude), clap (codex) and yargs (gemini) for an unknown flag or a refused value.
 */
const REFUSED_FLAG = [
  /^error: unknown option '(--?[a-z-]+)/im,
  /^error: option '(?:-\w, )?(--?[a-z-]+)[^']*' argument '.*' is invalid\b/im,
  /^error: unexpected argument '(--?[a-z-]+)/im,
  /^error: invalid value '.*' for '(--?[a-z-]+)/im,
  /^unknown arguments?: ([a-z-]+)/im,
];

/** The part of the output that is searched, in UTF-16 units. */
const LOOKED_AT_MAX_UNITS = 8_192;

/** The provider or the CLI does not know the model or does not allow it. */
export const modelRejected = (
  agent_kind: string,
  code: "INVALID_REQUEST" | "PROVIDER_BAD_REQUEST" = "PROVIDER_BAD_REQUEST",
): WorkerError => ({
  code,
  message: `${agent_kind} backend error: model rejected by runtime (details redacted)`,
});

/**
 * The error for a refused flag of ours, from what a CLI printed to stderr; undefined if it names none of our
 * flags.
 */
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
