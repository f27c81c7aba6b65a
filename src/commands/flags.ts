/** Flags and arguments that commands of several files share, the global flags, and the variables of the environment. */
import type { FlagDef } from "../base/flag.ts";
import { PRINTED_HEARTBEAT_MS } from "../base/limits.ts";
import { DEFAULT_NAMES, variableOfDefault } from "../protocol/defaults.ts";
import type { ArgDef } from "./command.ts";
import { PROGRAMS } from "./kinds.ts";

export const GLOBAL_FLAGS: readonly FlagDef[] = [
  {
    name: "output",
    short: "o",
    type: "enum",
    values: ["text", "json", "ndjson", "wide"],
    value: "MODE",
    help: "text, json, ndjson; wide: all columns",
    default: "$HOLDFAST_OUTPUT; text on a terminal; json",
  },
  {
    name: "state-dir",
    type: "string",
    value: "DIR",
    help: "state directory of the daemon",
    default: "$HOLDFAST_HOME",
  },
  {
    name: "host",
    type: "string",
    value: "HOST",
    repeatable: true,
    help: "hosts, as a,b: ssh://…, exec:…, a name, local or all",
    default: "this machine",
  },
  {
    name: "envelope",
    type: "enum",
    values: ["g1", "g2"],
    value: "G",
    help: "generation of envelope and exit codes",
    default: "g1",
  },
  {
    name: "heartbeat-ms",
    type: "int",
    value: "MS",
    help: "sign of life after such silence; 0: none",
    default: String(PRINTED_HEARTBEAT_MS),
  },
  { name: "no-color", type: "bool", help: "no colours in text" },
  { name: "schema", type: "bool", help: "print its JSON Schemas" },
  { name: "help", short: "h", type: "bool", help: "show help" },
];

/** Variables that the command itself reads. docs/ explains those of the daemon. */
export const ENVIRONMENT: readonly { readonly name: string; readonly help: string }[] = [
  { name: "HOLDFAST_HOME", help: "state directory, if --state-dir is not given" },
  { name: "HOLDFAST_OUTPUT", help: "text, json or ndjson, if --output is not given" },
  { name: "HOLDFAST_ENVELOPE", help: "g1 or g2, if --envelope is not given" },
  { name: "HOLDFAST_TOKEN", help: "secret of the token that names you in records" },
  { name: "HOLDFAST_TOKEN_FILE", help: "file with that secret, which only you may read" },
  { name: "HOLDFAST_VALIDATE", help: "1 checks every envelope against its contract before it is printed" },
  ...DEFAULT_NAMES.map((name) => ({
    name: variableOfDefault(name),
    help: `default of --${name} of agent spawn${name === "worktree" ? ": on or off" : ""}`,
  })),
  { name: "CI", help: "if not empty: json by default, even on a terminal" },
  { name: "NO_COLOR", help: "if not empty: no colours" },
  ...PROGRAMS.map(({ short, variable }) => ({ name: variable, help: `the program of kind ${short}` })),
];

export const id: ArgDef = {
  name: "ID",
  help: "id, unique prefix of one, or name",
  required: true,
  complete: "worker",
};
export const ids = (
  help: string,
  { required = true, complete = "worker" }: Pick<ArgDef, "required" | "complete"> = {},
): ArgDef => ({ name: "ID", help, required, variadic: true, complete });

/** The flags of a command that prints pages of a list. */
export const pageFlags = (max: number, limit = max): readonly FlagDef[] => [
  {
    name: "limit",
    type: "int",
    value: "N",
    help: `list at most this many, up to ${max}`,
    default: String(limit),
    min: 1,
    max,
  },
  { name: "cursor", type: "string", value: "C", help: "continue where an earlier page ended" },
];

export const idempotencyKey: FlagDef = {
  name: "idempotency-key",
  type: "string",
  value: "K",
  help: "a repeat with the same key does nothing and returns the result of the first",
};

export const verbose: FlagDef = {
  name: "verbose",
  short: "v",
  type: "bool",
  help: "print every record as text, including state changes and heartbeats",
};

export const since: FlagDef = {
  name: "since",
  type: "duration",
  value: "10m",
  help: "only records from the last 10m, 2h, 7d …",
};

export const watchFrom: FlagDef = {
  name: "from",
  type: "cursor",
  value: "SEQ",
  help: "start after this seq, or EPOCH:SEQ, then continue live",
};

export const noFollow: FlagDef = {
  name: "no-follow",
  type: "bool",
  help: "end after the records that are there",
};

export const waitTimeout: FlagDef = {
  name: "timeout",
  type: "duration",
  value: "10m",
  help: "wait no longer than this",
  default: "for ever",
};

export const labelled: FlagDef = {
  name: "label",
  short: "l",
  type: "pair",
  value: "K=V",
  repeatable: true,
  help: "only workers that have this label",
};

export const dryRun: FlagDef = {
  name: "dry-run",
  type: "bool",
  help: "show what would happen; change nothing",
};
