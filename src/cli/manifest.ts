/** The manifest: every command with its flags, exit codes and schemas, made from the registry (CLI requirements O-041). */
import { createHash } from "node:crypto";
import { z } from "zod";
import { COMMANDS, type CommandDef, GLOBAL_FLAGS } from "../protocol/commands.ts";
import { ERROR_CATALOGUE } from "../protocol/errors.ts";
import { Requests } from "../protocol/requests.ts";
import { usage } from "./help.ts";
import { VERSION } from "./package.ts";
import { OUTPUTS, record } from "./schemas.ts";

/** response-envelope notes B.2, generation G1: name, whether the same call may be repeated, and what may have happened. */
const EXIT_CODES: Readonly<
  Record<
    number,
    {
      readonly name: string;
      readonly retryable: boolean;
      readonly side_effects: "none" | "partial" | "complete";
    }
  >
> = {
  0: { name: "SUCCESS", retryable: false, side_effects: "complete" },
  1: { name: "GENERAL_ERROR", retryable: false, side_effects: "partial" },
  2: { name: "PARTIAL_FAILURE", retryable: false, side_effects: "partial" },
  3: { name: "ARG_ERROR", retryable: true, side_effects: "none" },
  4: { name: "PRECONDITION", retryable: false, side_effects: "none" },
  5: { name: "NOT_FOUND", retryable: false, side_effects: "none" },
  6: { name: "CONFLICT", retryable: false, side_effects: "none" },
  7: { name: "PERMISSION_DENIED", retryable: false, side_effects: "none" },
  8: { name: "AUTH_REQUIRED", retryable: false, side_effects: "none" },
  10: { name: "TIMEOUT", retryable: false, side_effects: "partial" },
  11: { name: "RATE_LIMITED", retryable: true, side_effects: "none" },
  12: { name: "UNAVAILABLE", retryable: true, side_effects: "none" },
  130: { name: "INTERRUPTED", retryable: false, side_effects: "partial" },
  143: { name: "TERMINATED", retryable: false, side_effects: "partial" },
};
const EVERY_COMMAND = [0, 1, 3, 4, 7, 12, 130, 143];

const exitCodesOf = (command: CommandDef): Readonly<Record<string, object>> =>
  Object.fromEntries(
    [...new Set([...EVERY_COMMAND, ...command.exits])]
      .sort((a, b) => a - b)
      .map((exit) => [
        exit,
        {
          ...EXIT_CODES[exit],
          error_codes: Object.entries(ERROR_CATALOGUE).flatMap(([code, row]) =>
            row.exit === exit ? [code] : [],
          ),
        },
      ]),
  );

const toJson = (schema: z.ZodType, io: "input" | "output"): object =>
  z.toJSONSchema(schema, { io, unrepresentable: "any" });

/** Input is what goes over the socket; output is `data` of the envelope, and one record where the command streams. */
export const schemasOf = (command: CommandDef): object => ({
  command: command.words.join("."),
  input: command.request === undefined ? null : toJson(Requests[command.request], "input"),
  output: toJson(OUTPUTS[command.command] ?? z.json(), "output"),
  record: command.stream === false ? null : toJson(record, "output"),
});

const entryOf = (command: CommandDef): object => {
  const { input, output, record: item } = schemasOf(command) as Record<string, object | null>;
  return {
    description: command.summary,
    usage: usage(command),
    aliases: command.alias ? [command.alias] : [],
    protocol_command: command.command,
    danger_level: command.danger,
    stream: command.stream !== false,
    args: command.args.map(({ name, help, required = false, variadic = false, values }) => ({
      name,
      description: help,
      required,
      variadic,
      ...(values ? { values } : {}),
    })),
    flags: command.flags.map(
      ({ name, short, type, help, values, repeatable = false, default: fallback }) => ({
        name: `--${name}`,
        ...(short ? { short: `-${short}` } : {}),
        type,
        description: help,
        repeatable,
        ...(values ? { values } : {}),
        ...(fallback ? { default: fallback } : {}),
      }),
    ),
    exit_codes: exitCodesOf(command),
    input_schema: input,
    output_schema: output,
    record_schema: item,
    examples: command.examples,
  };
};

export const manifest = (): object => {
  const commands = Object.fromEntries(COMMANDS.map((command) => [command.words.join("."), entryOf(command)]));
  const body = {
    tool: "agent",
    version: VERSION,
    schema_version: "1.0",
    global_flags: GLOBAL_FLAGS.map(({ name, type, help }) => ({
      name: `--${name}`,
      type,
      description: help,
    })),
    commands,
  };
  return { ...body, etag: createHash("sha256").update(JSON.stringify(body)).digest("hex").slice(0, 16) };
};
