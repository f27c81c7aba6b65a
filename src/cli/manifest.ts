/** The manifest: every command with its flags, exit codes and schemas, made from the registry (CLI requirements O-041). */
import { createHash } from "node:crypto";
import type { FlagDef, ValueType } from "../base/flag.ts";
import type { CommandDef } from "../commands/command.ts";
import { COMMANDS } from "../commands/commands.ts";
import { GLOBAL_FLAGS } from "../commands/flags.ts";
import { ERROR_CATALOGUE, type ErrorCode } from "../protocol/errors.ts";
import { type ExitClass, exitIn, G1, type Generation } from "../protocol/generations.ts";
import { jobStep } from "../protocol/replies/jobs.ts";
import { Requests } from "../protocol/requests.ts";
import { generationOf } from "./choices.ts";
import type { CommandResult, Context } from "./context.ts";
import { toJson } from "./draft-7.ts";
import { usage } from "./help.ts";
import { outputSchemaOf } from "./output-schemas.ts";
import { VERSION } from "./package.ts";
import { record } from "./schemas.ts";

/** Exit codes of G1 that every command can have. */
const EVERY_COMMAND = [0, 1, 3, 4, 7, 12, 130, 143];

/** In numbers of G1. */
export const exitsOf = (command: CommandDef): readonly number[] =>
  [...new Set([...EVERY_COMMAND, ...command.exits])].sort((a, b) => a - b);

/** exit-code-entry.json, in the generation's own numbers. */
const exitCodesOf = (command: CommandDef, generation: Generation): Readonly<Record<string, ExitClass>> =>
  Object.fromEntries(
    exitsOf(command).map((exit) => {
      const own = exitIn(generation, exit);
      return [own, generation.exits[own]!];
    }),
  );

const errorCodesOf = (command: CommandDef): readonly string[] => {
  const exits = exitsOf(command);
  return Object.entries(ERROR_CATALOGUE).flatMap(([code, row]) => (exits.includes(row.exit) ? [code] : []));
};

/** Once for all commands: a list in each entry was a sixth of the manifest. Exit codes are those of the generation. */
const errorTable = (generation: Generation): Readonly<Record<string, readonly string[]>> =>
  Object.groupBy(Object.keys(ERROR_CATALOGUE), (code) =>
    String(exitIn(generation, ERROR_CATALOGUE[code as ErrorCode].exit)),
  ) as Readonly<Record<string, readonly string[]>>;

/** `input` goes over the socket; `output` is `data` of the envelope, and `record` one record of a stream. */
export const schemasOf = (command: CommandDef): object => ({
  command: command.words.join("."),
  input: command.request === undefined ? null : toJson(Requests[command.request], "input"),
  output: outputSchemaOf(command),
  record:
    command.stream === false ? null : toJson(command.command === "jobs/tail" ? jobStep : record, "output"),
  error_codes: errorCodesOf(command),
});

/** manifest-response.json, FlagEntry: our types are finer, so the description names them. */
const FLAG_TYPES: Readonly<Partial<Record<ValueType, string>>> = {
  bool: "boolean",
  int: "integer",
  number: "number",
  enum: "enum",
  list: "array",
};

/** A value in capitals, as `DIR`, only holds the place of one. */
const isSample = (value: string | undefined): value is string => value !== undefined && /[^A-Z]/.test(value);

const flagEntry = ({ short, type, help, value, values, repeatable, default: fallback }: FlagDef): object => ({
  type: repeatable ? "array" : (FLAG_TYPES[type] ?? "string"),
  required: false,
  description: isSample(value) && values === undefined ? `${help}; as in ${value}` : help,
  ...(fallback !== undefined && { default: fallback }),
  ...(values !== undefined && { enum_values: values }),
  ...(short !== undefined && { short }),
});

/** A schema inside of another one is of the same draft. */
const inside = (schema: object | null | undefined): object | null => {
  const { $schema: _, ...rest } = (schema ?? {}) as Readonly<Record<string, unknown>>;
  return schema ? rest : null;
};

/** Groups (`daemon`, `db`) are not commands, so no command has subcommands. */
const entryOf = (command: CommandDef, generation: Generation): object => {
  const { input, output, record: item } = schemasOf(command) as Record<string, object | null>;
  return {
    description: command.summary,
    aliases: command.alias ? [command.alias] : [],
    danger_level: command.danger,
    flags: Object.fromEntries(
      [...command.flags, ...GLOBAL_FLAGS].map((flag) => [flag.name, flagEntry(flag)]),
    ),
    exit_codes: exitCodesOf(command, generation),
    // The entry of the contract is closed except for this member, so further facts go here as x-….
    output_schema: {
      ...output,
      "x-usage": usage(command),
      "x-args": command.args.map(({ name, help, required = false, variadic = false, values }) => ({
        name,
        description: help,
        required,
        variadic,
        ...(values ? { values } : {}),
      })),
      "x-protocol-command": command.command,
      "x-stream": command.stream !== false,
      ...(command.command === "agent/manifest" && { "x-error-codes": errorTable(generation) }),
      "x-input-schema": inside(input),
      "x-record-schema": inside(item),
    },
    output_formats: ["text", "json", "ndjson"],
    examples: command.examples.map((example) => ({ description: command.summary, command: example })),
  };
};

/** manifest-response.json. */
export const manifest = (generation: Generation = G1) => {
  const commands = Object.fromEntries(
    COMMANDS.map((command) => [command.words.join("."), entryOf(command, generation)]),
  );
  const body = { schema_version: "1.0", framework_version: VERSION, commands };
  return { ...body, etag: createHash("sha256").update(JSON.stringify(body)).digest("hex").slice(0, 16) };
};

export const manifestFor = ({ flags, env }: Pick<Context, "flags" | "env">): CommandResult => {
  const value = manifest(generationOf(flags, env));
  return flags.etag === value.etag
    ? { ok: true, value: { not_modified: true, etag: value.etag }, meta: { not_modified: true } }
    : { ok: true, value };
};
