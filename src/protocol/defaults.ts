/**
 * The defaults of `agent spawn` that a user or a repository writes: their names, their values, and which of two values
 * gives an agent less. Plain data and pure functions, because the light client loads them.
 */
import { type Reading, readDuration } from "../base/durations.ts";
import { MODEL_MAX_CHARS } from "../base/limits.ts";
import { didYouMean } from "../base/suggest.ts";
import { SPEC_FIELDS } from "./spec-fields.ts";

/** Each is the name of a flag of spawn. */
export const DEFAULT_NAMES = ["model", "permission", "sandbox", "worktree", "timeout"] as const;
export type DefaultName = (typeof DEFAULT_NAMES)[number];

/** As the flag of spawn has it; a timeout is in milliseconds, and 0 means none. */
export type DefaultValue = string | number | boolean;

/** The value that counts, and its source. */
export interface ResolvedDefault {
  readonly name: DefaultName;
  readonly value: DefaultValue | null;
  readonly source: "flag" | "environment" | "repository" | "user" | "built_in";
  /** The flag, the variable or the file. */
  readonly from: string | null;
  /** A value of the repository that gives the agent more than the user's, and so does not count. */
  readonly refused?: DefaultValue;
}

/** The variable of a default. */
export const variableOfDefault = (name: DefaultName): string => `HOLDFAST_${name.toUpperCase()}`;

export const isDefaultName = (name: string): name is DefaultName =>
  (DEFAULT_NAMES as readonly string[]).includes(name);

/** The values of those with few, from the one that gives an agent least. */
const FROM_STRICT: Readonly<Partial<Record<DefaultName, readonly DefaultValue[]>>> = {
  permission: [
    "deny",
    ...SPEC_FIELDS.permission.values.filter((one) => one !== "deny" && one !== "allow"),
    "allow",
  ],
  sandbox: ["workspace", "off"],
  worktree: [true, false],
};

const WORKTREE_WORDS: Readonly<Record<string, boolean>> = { on: true, true: true, off: false, false: false };

/** A CLI could take a model that begins with a dash as a flag of its own. */
const MODEL_FORM = /^[^-\s\p{Cc}][^\p{Cc}]*$/u;

/** A value of a file, a variable or the command line; the problem is the rest of a sentence that begins with its name. */
export const readDefault = (name: DefaultName, given: unknown): Reading<DefaultValue> => {
  const text = String(given);
  if (name === "timeout") return readDuration(text);
  if (name === "model")
    return typeof given === "string" && MODEL_FORM.test(text) && text.length <= MODEL_MAX_CHARS
      ? { ok: true, value: text }
      : bad(
          `is a text of at most ${MODEL_MAX_CHARS} characters that begins with no dash, not ${shown(given)}`,
        );
  const values = FROM_STRICT[name]!;
  const value = name === "worktree" ? WORKTREE_WORDS[text] : text;
  if (value !== undefined && values.includes(value)) return { ok: true, value };
  const words = name === "worktree" ? ["on", "off"] : (values as readonly string[]);
  return bad(`is one of ${words.join(", ")}, not ${shown(given)}${didYouMean(text, words)}`);
};

const bad = (problem: string): Reading<DefaultValue> => ({ ok: false, problem });

const SHOWN_MAX_CHARS = 80;
const shown = (given: unknown): string => (JSON.stringify(given) ?? "nothing").slice(0, SHOWN_MAX_CHARS);

/** No limit is the longest time. */
const rank = (name: DefaultName, value: DefaultValue): number =>
  name === "timeout" ? Number(value) || Number.POSITIVE_INFINITY : (FROM_STRICT[name]?.indexOf(value) ?? 0);

/** Whether `value` gives an agent more than `other` does. A model is no right. */
export const isLooser = (name: DefaultName, value: DefaultValue, other: DefaultValue | undefined): boolean =>
  other !== undefined && rank(name, value) > rank(name, other);

/** The keys of config.yaml: `defaults.NAME`, for every kind, and `kinds.KIND.NAME`. */
export const keyOfDefault = (name: DefaultName, kind?: string): string =>
  kind === undefined ? `defaults.${name}` : `kinds.${kind}.${name}`;

/** A default under its key; the problem says which keys there are. */
export const readDefaultKey = (
  key: string,
): Reading<{ readonly name: DefaultName; readonly kind: string | undefined }> => {
  const [section, ...rest] = key.split(".");
  const name = rest.at(-1) ?? "";
  const kind = rest.slice(0, -1).join(".");
  if (isDefaultName(name) && section === "defaults" && rest.length === 1)
    return { ok: true, value: { name, kind: undefined } };
  if (isDefaultName(name) && section === "kinds" && kind !== "") return { ok: true, value: { name, kind } };
  const keys = DEFAULT_NAMES.map((one) => keyOfDefault(one));
  const meant = isDefaultName(key) ? `; did you mean ${keyOfDefault(key)}?` : didYouMean(key, keys);
  return {
    ok: false,
    problem: `is defaults.NAME or kinds.KIND.NAME, and NAME one of ${DEFAULT_NAMES.join(", ")}; not "${key}"${meant}`,
  };
};
