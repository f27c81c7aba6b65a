/**
 * The extension keys of the AgentEvent notes, A.5: `--ext KEY=JSON` refuses every other key. Keys are capability ids, so a
 * kind supports exactly the keys that it advertises. Pure: an agent's start checks whether a directory exists.
 */
import { resolve } from "node:path";
import { asObject } from "../base/json.ts";
import { ADD_DIR_MAX_BYTES, ADD_DIRS_MAX, MODEL_MAX_BYTES } from "../base/limits.ts";
import { SESSION_HANDLE, STRUCTURED_TOOLS } from "./facets.ts";
import type { WorkerSpec } from "./worker.ts";

export const MODEL = "agent_api.config.model.v1";
export const RESUME = "agent_api.session.resume.v1";
export const FORK = "agent_api.session.fork.v1";
export const NON_INTERACTIVE = "agent_api.exec.non_interactive";
export const ADD_DIRS = "agent_api.exec.add_dirs.v1";
/** MCP servers of a spec reach the CLI. A capability, and no key: the field `mcp` has them. */
export const MCP_SERVERS = "agent_api.config.mcp.v1";
export const EXTERNAL_SANDBOX = "agent_api.exec.external_sandbox.v1";

/** The Status that precedes all other output of a run whose sandbox is external (notes A.5, exact text). */
export const EXTERNAL_SANDBOX_WARNING =
  "DANGEROUS: external sandbox exec policy enabled (agent_api.exec.external_sandbox.v1=true)";

/** Capabilities of every kind of an agent CLI (notes A.5). */
export const HEADLESS = [
  "agent_api.run",
  "agent_api.events",
  "agent_api.events.live",
  "agent_api.control.cancel.v1",
  STRUCTURED_TOOLS,
  "agent_api.tools.results.v1",
  "agent_api.artifacts.final_text.v1",
  SESSION_HANDLE,
] as const;

/** The session to continue: one by its id, or the newest of the working directory. */
export type SessionChoice = { readonly by: "id"; readonly id: string } | { readonly by: "last" };

/** The options that a spec gives by its flags and extension keys together. */
export interface AgentOptions {
  readonly model: string | undefined;
  readonly session: SessionChoice | undefined;
  readonly fork: boolean;
  /** Absolute and normalised paths, without duplicates. */
  readonly addDirs: readonly string[];
  /** An external sandbox confines the agent, so the agent is told to restrict nothing itself. */
  readonly externalSandbox: boolean;
}

/** Returns the mistake in a value: the key, or the key with the place in its value. Undefined if the value is right. */
export type ValueCheck = (value: unknown) => string | undefined;

const modelOf = (value: unknown): string | undefined => {
  const model = typeof value === "string" ? value.trim() : "";
  return model !== "" && Buffer.byteLength(model) <= MODEL_MAX_BYTES ? model : undefined;
};

/** Accepts exactly `{selector:"last"}` or `{selector:"id", id}`. */
const sessionOf = (value: unknown): SessionChoice | undefined => {
  const given = asObject(value);
  if (given === undefined) return undefined;
  const keys = Object.keys(given).length;
  if (given.selector === "last" && keys === 1) return { by: "last" };
  const id = typeof given.id === "string" ? given.id.trim() : "";
  return given.selector === "id" && keys === 2 && id !== "" ? { by: "id", id } : undefined;
};

const isDir = (value: unknown): value is string => {
  if (typeof value !== "string" || value.includes("\0")) return false;
  const bytes = Buffer.byteLength(value.trim());
  return bytes >= 1 && bytes <= ADD_DIR_MAX_BYTES;
};

/** In the order given; undefined if the value is malformed. */
const dirsOf = (value: unknown): readonly string[] | undefined =>
  checkDirs(value) === undefined ? (asObject(value)?.dirs as string[]) : undefined;

const checkDirs: ValueCheck = (value) => {
  const given = asObject(value);
  if (given === undefined || Object.keys(given).some((key) => key !== "dirs")) return ADD_DIRS;
  const { dirs } = given;
  if (!Array.isArray(dirs) || dirs.length < 1 || dirs.length > ADD_DIRS_MAX) return `${ADD_DIRS}.dirs`;
  const at = dirs.findIndex((dir) => !isDir(dir));
  return at === -1 ? undefined : `${ADD_DIRS}.dirs[${at}]`;
};

/** Checks for one of a few words. */
export const oneOf =
  (key: string, values: readonly string[]): ValueCheck =>
  (value) =>
    values.includes(value as string) ? undefined : key;

const boolean =
  (key: string): ValueCheck =>
  (value) =>
    typeof value === "boolean" ? undefined : key;

/** Keys that mean the same to every kind that advertises them. */
const UNIVERSAL: ReadonlyMap<string, ValueCheck> = new Map([
  [MODEL, (value) => (modelOf(value) === undefined ? MODEL : undefined)],
  [RESUME, (value) => (sessionOf(value) === undefined ? RESUME : undefined)],
  [FORK, (value) => (sessionOf(value) === undefined ? FORK : undefined)],
  [NON_INTERACTIVE, boolean(NON_INTERACTIVE)],
  [ADD_DIRS, checkDirs],
  [EXTERNAL_SANDBOX, boolean(EXTERNAL_SANDBOX)],
]);

/** Notes A.5: what a key looks like, beside its namespace. */
const KEY_FORM = /^[a-z][a-z0-9_.-]*$/;

const isKeyOf = (kind: string, key: string): boolean =>
  UNIVERSAL.has(key) || key.startsWith(`backend.${kind}.`);

/** Keys of a spec that are not in `supported`, in lexicographic order. */
export const unsupportedKeys = (
  spec: Pick<WorkerSpec, "ext" | "kind">,
  supported: readonly string[],
): readonly string[] =>
  Object.keys(spec.ext)
    .sort()
    .filter((key) => !(KEY_FORM.test(key) && supported.includes(key) && isKeyOf(spec.kind, key)));

/** The message about an unsupported key. */
export const unsupportedKey = (key: string, kind: string): string =>
  `Extension key ${key.slice(0, 128)} is not supported by kind ${kind}: see \`agent capabilities ${kind}\`.`;

export const agentOptions = (spec: WorkerSpec): AgentOptions => ({
  model: spec.model ?? modelOf(spec.ext[MODEL]),
  session:
    spec.session === undefined
      ? (sessionOf(spec.ext[RESUME]) ?? sessionOf(spec.ext[FORK]))
      : { by: "id", id: spec.session },
  fork: spec.fork || spec.ext[FORK] !== undefined,
  addDirs: [...new Set(addedDirectories(spec))],
  externalSandbox: spec.ext[EXTERNAL_SANDBOX] === true,
});

/**
 * The directories of `agent_api.exec.add_dirs.v1`, in their order. Each is resolved against the agent's working directory by
 * its text alone: no link, `~` or variable is followed. Each must exist when the worker is requested.
 */
export const addedDirectories = (spec: Pick<WorkerSpec, "ext" | "cwd">): readonly string[] =>
  (dirsOf(spec.ext[ADD_DIRS]) ?? []).map((dir) => resolve(spec.cwd, dir.trim()));

/** The message about the directory at this index, which does not exist or is a file. */
export const missingDirectory = (at: number): string => `invalid ${ADD_DIRS}.dirs[${at}]`;

/** All mistakes, one sentence each: unsupported keys first, then values, then contradictions (notes A.5, Precedence). */
export const extensionProblems = (
  spec: WorkerSpec,
  supported: readonly string[],
  own: Readonly<Record<string, ValueCheck>> = {},
): readonly string[] => {
  const foreign = unsupportedKeys(spec, supported);
  const keys = Object.keys(spec.ext)
    .sort()
    .filter((key) => !foreign.includes(key));
  const invalid = keys.flatMap((key) => {
    const check = UNIVERSAL.get(key) ?? (Object.hasOwn(own, key) ? own[key] : undefined);
    return check?.(spec.ext[key]) ?? [];
  });
  return [
    ...foreign.map((key) => unsupportedKey(key, spec.kind)),
    ...invalid.map((place) => `invalid ${place}`),
    ...contradictions(spec),
  ];
};

const contradictions = (spec: WorkerSpec): readonly string[] => {
  const { ext, permission } = spec;
  const problems: string[] = [];
  if (ext[RESUME] !== undefined && ext[FORK] !== undefined)
    problems.push(`${RESUME} and ${FORK} exclude each other: give one of them.`);
  if (spec.session !== undefined && (ext[RESUME] !== undefined || ext[FORK] !== undefined))
    problems.push("The session is given twice: by --session and by an extension key.");
  if (spec.model !== undefined && ext[MODEL] !== undefined)
    problems.push("The model is given twice: by --model and by an extension key.");
  if (ext[NON_INTERACTIVE] === false && permission !== "ask")
    problems.push(`${NON_INTERACTIVE}=false needs --permission ask: somebody must be asked.`);
  if (ext[NON_INTERACTIVE] === true && permission === "ask")
    problems.push(`${NON_INTERACTIVE}=true contradicts --permission ask: leave one of them out.`);
  if (ext[EXTERNAL_SANDBOX] !== true) return problems;
  const policies = Object.keys(ext).filter((key) => /^backend\.[a-z0-9_]+\.exec\./.test(key));
  for (const key of policies.sort())
    problems.push(`${EXTERNAL_SANDBOX}=true contradicts ${key}: leave one of them out.`);
  if (ext[NON_INTERACTIVE] === false)
    problems.push(
      `${EXTERNAL_SANDBOX}=true contradicts ${NON_INTERACTIVE}=false: with it, no person is asked.`,
    );
  if (permission === "ask" || (spec.permission_rules ?? []).length > 0)
    problems.push(
      `${EXTERNAL_SANDBOX}=true contradicts --permission ask and rules of tools: with it, no person is asked.`,
    );
  return problems;
};

/** The model that a worker asks for; null if the configuration of its CLI decides. */
export const modelAsked = (
  adapter: { readonly model?: (spec: WorkerSpec) => string | undefined },
  spec: WorkerSpec,
): string | null => adapter.model?.(spec) ?? agentOptions(spec).model ?? null;
