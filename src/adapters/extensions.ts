/**
 * The extension keys of the AgentEvent notes, A.5, that are another spelling of a flag: `--ext KEY=JSON` fails closed on
 * every other key. Keys are capability ids, so a kind supports exactly the keys that it advertises.
 */
import type { WorkerSpec } from "../protocol/worker.ts";
import { asObject } from "./json.ts";

export const MODEL = "agent_api.config.model.v1";
export const RESUME = "agent_api.session.resume.v1";
export const FORK = "agent_api.session.fork.v1";
export const NON_INTERACTIVE = "agent_api.exec.non_interactive";

/** What every kind of an agent CLI can do (notes A.5). */
export const HEADLESS = [
  "agent_api.run",
  "agent_api.events",
  "agent_api.events.live",
  "agent_api.control.cancel.v1",
  "agent_api.tools.structured.v1",
  "agent_api.tools.results.v1",
  "agent_api.artifacts.final_text.v1",
  "agent_api.session.handle.v1",
] as const;

/** Bytes of UTF-8 (notes A.5). */
const MODEL_MAX_BYTES = 128;

/** A session to go on in: one by its id, or the newest of the working directory. */
export type Session = { readonly by: "id"; readonly id: string } | { readonly by: "last" };

/** The spec's flags and extension keys as one thing. */
export interface AgentOptions {
  readonly model: string | undefined;
  readonly session: Session | undefined;
  readonly fork: boolean;
}

const modelOf = (value: unknown): string | undefined => {
  const model = typeof value === "string" ? value.trim() : "";
  return model !== "" && Buffer.byteLength(model) <= MODEL_MAX_BYTES ? model : undefined;
};

/** A closed shape: `{selector:"last"}` or `{selector:"id", id}`. */
const sessionOf = (value: unknown): Session | undefined => {
  const given = asObject(value);
  if (given === undefined) return undefined;
  const keys = Object.keys(given).length;
  if (given.selector === "last" && keys === 1) return { by: "last" };
  const id = typeof given.id === "string" ? given.id.trim() : "";
  return given.selector === "id" && keys === 2 && id !== "" ? { by: "id", id } : undefined;
};

export const agentOptions = (spec: WorkerSpec): AgentOptions => ({
  model: spec.model ?? modelOf(spec.ext[MODEL]),
  session:
    spec.session === undefined
      ? (sessionOf(spec.ext[RESUME]) ?? sessionOf(spec.ext[FORK]))
      : { by: "id", id: spec.session },
  fork: spec.fork || spec.ext[FORK] !== undefined,
});

/** One sentence a mistake: keys that are not supported first, then values (notes A.5, Precedence). */
export const extensionProblems = (spec: WorkerSpec, supported: readonly string[]): readonly string[] => {
  const keys = Object.keys(spec.ext).sort();
  const foreign = keys.filter((key) => !supported.includes(key));
  const invalid = keys.filter((key) => supported.includes(key) && !isValid(key, spec.ext[key]));
  const problems = [
    ...foreign.map(
      (key) =>
        `Extension key ${key.slice(0, 128)} is not supported by kind ${spec.kind}: see \`agent capabilities ${spec.kind}\`.`,
    ),
    ...invalid.map((key) => `invalid ${key}`),
  ];
  if (spec.ext[RESUME] !== undefined && spec.ext[FORK] !== undefined) {
    problems.push(`${RESUME} and ${FORK} exclude each other: give one of them.`);
  }
  if (spec.session !== undefined && (spec.ext[RESUME] !== undefined || spec.ext[FORK] !== undefined)) {
    problems.push("The session is given twice: by --session and by an extension key.");
  }
  if (spec.model !== undefined && spec.ext[MODEL] !== undefined) {
    problems.push("The model is given twice: by --model and by an extension key.");
  }
  return problems;
};

const isValid = (key: string, value: unknown): boolean => {
  switch (key) {
    case MODEL:
      return modelOf(value) !== undefined;
    case RESUME:
    case FORK:
      return sessionOf(value) !== undefined;
    default:
      // Nobody could answer: every run of ours is non-interactive.
      return value === true;
  }
};
