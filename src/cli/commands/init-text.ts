/** The holdfast.yaml that `agent init` writes. Pure text; the reader of tree files judges it. */
import { PROGRAM_KIND } from "../../commands/kinds.ts";

export interface InitAnswers {
  /** The name of the tree. */
  readonly name: string;
  readonly kind: string;
  /** For a program, in the place of a prompt. */
  readonly argv: readonly string[];
  readonly prompt: string;
  readonly workers: number;
  readonly model: string | undefined;
  readonly permission: string;
  readonly worktree: boolean;
  /** Dollars for all workers together; undefined sets no limit. */
  readonly usd: number | undefined;
}

/** A text in double quotes is YAML as it is JSON. */
const quoted = (text: string): string => JSON.stringify(text);

/** Texts that need no quotes. */
const PLAIN = /^[A-Za-z][\w./:-]*$/;
const RESERVED = /^(true|false|null|yes|no|on|off|y|n)$/i;
const scalar = (text: string): string => (PLAIN.test(text) && !RESERVED.test(text) ? text : quoted(text));

const worker = (answers: InitAnswers, name: string): readonly string[] => {
  const { kind, argv, prompt, model, permission, worktree } = answers;
  if (kind === PROGRAM_KIND)
    return [`- name: ${name}`, `  argv: [${argv.map(scalar).join(", ")}]`, "  restart: permanent"];
  return [
    `- name: ${name}`,
    `  kind: ${scalar(kind)}`,
    `  prompt: ${quoted(prompt)}`,
    ...(model === undefined ? [] : [`  model: ${scalar(model)}`]),
    ...(permission === "deny" ? [] : [`  permission: ${permission}`]),
    ...(worktree ? ["  worktree: true          # a branch of its own; agent changes shows its diff"] : []),
  ];
};

export const treeFileText = (answers: InitAnswers): string => {
  const { name, workers, usd } = answers;
  const names = workers === 1 ? ["worker"] : Array.from({ length: workers }, (_, at) => `worker-${at + 1}`);
  const children = names.flatMap((each) => worker(answers, each)).map((line) => `    ${line}`);
  return [
    "# Written by agent init. Next: agent up --dry-run, agent up, agent tree, agent down.",
    "version: 1",
    `name: ${scalar(name)}`,
    "tree:",
    "  strategy: one_for_one     # a worker that fails is restarted alone",
    "  intensity: 3/60s          # more restarts than this end the tree",
    ...(usd === undefined
      ? []
      : [`  budget: { usd: ${usd} }       # once it is spent, agent inbox asks you`]),
    "  children:",
    ...children,
    "",
  ].join("\n");
};
