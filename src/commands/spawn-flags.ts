/** The flags of spawn: those of a worker's spec, from the table of its fields (spec-fields.ts), and its own. */
import type { FlagDef, ValueType } from "../base/flag.ts";
import {
  FIELDS,
  type Field,
  type FieldName,
  plainFields,
  shownDefault,
  writtenDefault,
} from "../protocol/spec-fields.ts";
import { dryRun, verbose } from "./flags.ts";
import { kindsThatTake } from "./kinds.ts";

const FLAG_NAMES = new Map(plainFields("flag").map(([field, name]) => [field, name]));

/** A list is given by repeating its flag. */
const typeOf = ({ type }: Field): Pick<FlagDef, "type" | "repeatable"> =>
  type === "texts" ? { type: "string", repeatable: true } : { type: type as ValueType };

/** The bounds of a text apply to its length, which the daemon checks. */
const boundsOf = ({ type, min, max }: Field): Pick<FlagDef, "min" | "max"> =>
  type === "string" ? {} : { min, max };

const WORDS: Partial<Record<Field["type"], string>> = { enum: "WHAT", int: "N" };

const withKinds = (flag: string, help: string, { ofKinds }: Pick<Field, "ofKinds">): string =>
  ofKinds ? `${help} (${kindsThatTake(flag).join(", ")})` : help;

const flagsOf = (field: FieldName, def: Field): readonly FlagDef[] => {
  const { help, short, values, spelt, value = WORDS[def.type] ?? writtenDefault(def) } = def;
  const shown = shownDefault(def);
  const name = FLAG_NAMES.get(field);
  if (name !== undefined) {
    const words = { help: withKinds(name, help, def), short, value, values, default: shown };
    return [{ name, ...words, ...typeOf(def), ...boundsOf(def) }];
  }
  return (spelt ?? []).flatMap(({ flag, key: _, ofKinds, ...own }) => {
    if (flag === undefined) return [];
    const told = withKinds(flag, own.help ?? help, { ofKinds });
    return [{ name: flag, type: "string" as const, default: shown, ...own, help: told }];
  });
};

const specFlags = (): readonly FlagDef[] => {
  let topic: string | undefined;
  return FIELDS.flatMap(([name, field]) => {
    topic = field.topic ?? topic;
    return flagsOf(name, field).map((flag) => ({ topic, ...flag }));
  });
};

/** The profile of skills, by the word for what a model has of them. */
const tools = (profile: FlagDef): FlagDef => ({
  ...profile,
  name: "tools",
  help: "the same as --profile: the tools of a model that Holdfast runs itself",
});

const SPEC_FLAGS: readonly FlagDef[] = specFlags().flatMap((flag) =>
  flag.name === "profile" ? [flag, tools(flag)] : [flag],
);

export const SPAWN_FLAGS: readonly FlagDef[] = [
  ...SPEC_FLAGS,
  {
    name: "idempotency-key",
    type: "string",
    value: "K",
    help: "a repeat with the same key returns the first worker",
  },
  dryRun,
  {
    name: "no-defaults",
    type: "bool",
    help: "without the defaults of the environment, the repository and your config.yaml (see agent config list)",
  },
  { name: "watch", short: "w", type: "bool", help: "follow the worker to its end" },
  { name: "wait", type: "bool", help: "block until it has ended; exit as `agent wait` does" },
  { name: "detach", short: "d", type: "bool", help: "return at once (the default)" },
  verbose,
];

/** Some flags of spawn, for a command that takes only these. */
export const spawnFlags = (...names: readonly string[]): readonly FlagDef[] =>
  SPAWN_FLAGS.filter(({ name }) => names.includes(name));

/** Only `agent spawn` places a worker on a cluster. */
const PLACING: readonly string[] = ["where", "on-partition"];

/** For a command whose workers run where it is asked. */
export const spawnFlagsBut = (...names: readonly string[]): readonly FlagDef[] =>
  SPAWN_FLAGS.filter(({ name }) => !PLACING.includes(name) && !names.includes(name));
