/** Turns the keys of a worker into its spec, and finds mistakes that involve several keys. */
import { dirname, resolve } from "node:path";
import { ARG_MAX_BYTES, PROMPT_MAX_BYTES } from "../base/limits.ts";
import {
  type AddedKind,
  type KindDef,
  kindDefaults,
  kindOf,
  noProgramOf,
  PROGRAM_KIND,
  SOME_KINDS,
} from "../commands/kinds.ts";
import { plainFields } from "../protocol/spec-fields.ts";
import { type Ready, type RunLimits, WorkerSpec, type WorkerSpecInput } from "../protocol/worker.ts";
import { type FilePlace, type LocatedMap, placeOfKey, valueAt } from "./located.ts";
import { WorkerKeys } from "./schema.ts";
import type { Sources } from "./sources.ts";
import { isWritten } from "./zod-problems.ts";

/** Other tools' words for a worker's program. */
export const PROGRAM_WORDS = { command: "its program is argv, a list: argv: [npm, run, dev]" };

type Report = (key: keyof WorkerKeys | undefined, message: string) => void;

export const workerSpec = (
  keys: Partial<WorkerKeys>,
  node: LocatedMap,
  path: string,
  sources: Sources,
): WorkerSpec | undefined => {
  const { problems } = sources;
  const before = problems.found.length;
  const report: Report = (key, message) =>
    problems.add(key === undefined ? node.place : placeOfKey(node, key, node.place), message, path);
  const kind = kindNamedBy(keys, node, path, sources);
  addArgumentProblems(keys, report);
  addShutdownProblems(keys, report);
  if (keys.add_dirs !== undefined && keys.ext?.[ADD_DIRS] !== undefined)
    report("add_dirs", `the directories are given twice: as add_dirs and by the extension key ${ADD_DIRS}`);
  const cwd = pathOf("cwd", keys.cwd, node, report);
  const prompt = promptOf(keys, node, report, sources);
  if (kind === undefined || problems.found.length > before) return undefined;
  const input: WorkerSpecInput = {
    ...kindDefaults(kind.kind, keys.interactive === true),
    ...(kind.restart === undefined ? {} : { restart: kind.restart }),
    ...given(keys, node.place.file),
    ...extOf(kind, keys, dirname(node.place.file)),
    kind: kind.kind,
    cwd: cwd ?? dirname(node.place.file),
    ...(prompt === undefined ? {} : { prompt }),
  };
  const checked = WorkerSpec.safeParse(input);
  if (checked.success) return checked.data;
  for (const { path: at, message } of checked.error.issues)
    report(undefined, `${path} is no valid worker: ${at.join(".")} ${message}`);
  return undefined;
};

const rulesOf = ({ allow_tools, ask_tools, deny_tools }: Partial<WorkerKeys>) =>
  allow_tools === undefined && ask_tools === undefined && deny_tools === undefined
    ? undefined
    : [...(allow_tools ?? []), ...(ask_tools ?? []), ...(deny_tools ?? [])];

/** Only the written fields, without undefined ones; the others get their defaults. */
const given = (keys: Partial<WorkerKeys>, file: string): Partial<WorkerSpecInput> => {
  const { backoff, shutdown, ready } = keys;
  const plain = plainFields("key").map(([field, key]) => [field, keys[key as keyof WorkerKeys]]);
  const fields: Partial<WorkerSpecInput> = {
    ...Object.fromEntries(plain),
    labels: keys.labels,
    worktree: worktreeOf(keys.worktree),
    sandbox: sandboxOf(keys.sandbox, dirname(file)),
    env: keys.env,
    output_schema: keys.output_schema,
    mcp: keys.mcp,
    permission_rules: rulesOf(keys),
    backoff_min_ms: backoff?.min_ms,
    backoff_max_ms: backoff?.max_ms,
    limits: keys.limits && limitsOf(keys.limits),
    placement: keys.placement && {
      needs: keys.placement.where ?? {},
      on_partition: keys.placement.on_partition,
    },
    ready: ready && readyOf(ready),
    shutdown: undefined,
    ...shutdown,
  };
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
};

const worktreeOf = (asked: WorkerKeys["worktree"]): WorkerSpecInput["worktree"] =>
  asked === undefined || asked === false ? undefined : asked === true ? {} : { branch: asked };

const sandboxOf = (asked: WorkerKeys["sandbox"], dir: string): WorkerSpecInput["sandbox"] => {
  if (asked === undefined || asked === false) return undefined;
  const { net, writable = [] } = asked === true ? {} : asked;
  return { ...(net && { net }), writable: writable.map((path) => resolve(dir, path)) };
};

/** AgentEvent notes, A.5: the key for which `add_dirs` is an alias. */
const ADD_DIRS = "agent_api.exec.add_dirs.v1";

const extOf = (
  kind: NamedKind,
  { ext, add_dirs }: Partial<WorkerKeys>,
  dir: string,
): Partial<WorkerSpecInput> => {
  const added = add_dirs && { [ADD_DIRS]: { dirs: add_dirs.map((path) => resolve(dir, path)) } };
  const all = { ...kind.ext, ...added, ...ext };
  return Object.keys(all).length === 0 ? {} : { ext: all };
};

const readyOf = ({ healthy_for, within, ...ready }: NonNullable<WorkerKeys["ready"]>): Ready =>
  ({
    ...ready,
    ...(healthy_for === undefined ? {} : { healthy_for_ms: healthy_for }),
    ...(within === undefined ? {} : { within_ms: within }),
  }) as Ready;

const limitsOf = ({ memory, ...limits }: NonNullable<WorkerKeys["limits"]>): RunLimits => ({
  ...limits,
  ...(memory === undefined ? {} : { memory_bytes: memory }),
});

interface NamedKind extends KindDef {
  /** The restart policy that the kind sets by default. */
  readonly restart?: AddedKind["restart"];
}

/** The daemon has the kind's adapter, which checks needed and refused keys. */
const ofConfiguration = (added: AddedKind | undefined): NamedKind | undefined =>
  added && {
    kind: added.kind,
    short: added.kind,
    binary: added.kind,
    variable: null,
    needsPrompt: false,
    converses: true,
    refuses: [],
    restart: added.restart,
  };

const kindNamedBy = (
  keys: Partial<WorkerKeys>,
  node: LocatedMap,
  path: string,
  { problems, kinds }: Sources,
): NamedKind | undefined => {
  const isKey = (key: keyof WorkerKeys): boolean => isWritten(node, key, Object.keys(WorkerKeys.shape));
  if (keys.kind === undefined && isKey("kind")) return undefined;
  if (keys.kind === undefined && !isKey("argv")) {
    if (isWritten(node, "command", Object.keys({ ...WorkerKeys.shape, ...PROGRAM_WORDS }))) return undefined;
    problems.add(node.place, `${path} needs a kind (${SOME_KINDS}), or the argv of a program`, path);
    return undefined;
  }
  const typed = keys.kind ?? PROGRAM_KIND;
  const kind: NamedKind | undefined = kindOf(typed) ?? ofConfiguration(kinds.find(typed));
  if (kind === undefined) {
    problems.add(valueAt(node, ["kind"])?.place, kinds.unknown(typed), path);
    return undefined;
  }
  const missing = kind.binary === null ? noProgramOf(kind.kind) : undefined;
  if (missing !== undefined && (isKey("argv") ? keys.argv?.length === 0 : true))
    problems.add(placeOfKey(node, "argv", node.place), `${path} ${missing.in_file}`, path);
  const needsPrompt = kind.needsPrompt && !(kind.converses && keys.interactive === true);
  if (needsPrompt && !isKey("prompt") && !isKey("prompt_file"))
    problems.add(node.place, `${path} is of kind ${kind.short} and needs a prompt or a prompt_file`, path);
  for (const key of kind.refuses.map(keyOf))
    if (isSet(keys, key))
      problems.add(placeOfKey(node, key, node.place), `${key} means nothing to kind ${kind.short}`, path);
  return kind;
};

/** The key that corresponds to a flag of spawn. */
const keyOf = (flag: string): string => (flag === "add-dir" ? "add_dirs" : flag.replaceAll("-", "_"));

const isSet = (keys: object, key: string): boolean => {
  const value = (keys as Record<string, unknown>)[key];
  return value !== undefined && value !== false;
};

const addArgumentProblems = (keys: Partial<WorkerKeys>, report: Report): void => {
  if ((keys.argv ?? []).some((word) => Buffer.byteLength(word) > ARG_MAX_BYTES))
    report("argv", `argv has an argument over ${ARG_MAX_BYTES} bytes; put long text into a prompt_file`);
  if (keys.prompt !== undefined && keys.prompt_file !== undefined)
    report("prompt_file", "the prompt is given twice: as prompt and as prompt_file");
  if (keys.prompt?.trim() === "") report("prompt", "prompt is empty");
};

const addShutdownProblems = ({ shutdown, grace }: Partial<WorkerKeys>, report: Report): void => {
  if (shutdown === undefined || grace === undefined) return;
  report(
    "grace",
    "grace_ms" in shutdown
      ? "grace is given twice: as grace and as shutdown"
      : `grace means nothing with shutdown ${shutdown.shutdown}`,
  );
};

/** A path is relative to the file in which it is written; through an include or a host, that may be another file than the node's. */
const pathOf = (
  key: "cwd" | "prompt_file",
  value: string | undefined,
  node: LocatedMap,
  report: Report,
): string | undefined => {
  if (value === undefined) return undefined;
  if (value === "~" || value.startsWith("~/"))
    report(key, `${key} is read by no shell; write \${env:HOME}${value.slice(1)}`);
  const place: FilePlace = valueAt(node, [key])!.place;
  return resolve(dirname(place.file), value);
};

const promptOf = (
  keys: Partial<WorkerKeys>,
  node: LocatedMap,
  report: Report,
  { readFile }: Sources,
): string | undefined => {
  const file = pathOf("prompt_file", keys.prompt_file, node, report);
  if (file === undefined) return keys.prompt;
  const read = readFile(file, PROMPT_MAX_BYTES);
  if (!read.ok) report("prompt_file", `prompt_file ${keys.prompt_file} ${read.problem}`);
  else if (read.value.trim() === "") report("prompt_file", `prompt_file ${keys.prompt_file} is empty`);
  return read.ok ? read.value : undefined;
};
