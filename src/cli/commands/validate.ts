/** agent proto validate and agent event validate: check a file or stdin, without a daemon and in bounded memory. */

import { resolve } from "node:path";
import { ENVELOPE_MAX_BYTES } from "../../base/limits.ts";
import { makeLineSplitter } from "../../base/line-splitter.ts";
import { HoldfastError } from "../../protocol/errors.ts";
import { failure, success } from "../../protocol/outcome.ts";
import type { Finding, Findings, Level } from "../../protocol/validate/finding.ts";
import type { LineValidator } from "../../protocol/validate/stream.ts";
import type { CommandHandler, CommandResult, Context } from "../context.ts";
import { invalid } from "../parse.ts";
import type { Valid } from "../reports.ts";
import { bytesOfFile, whyUnreadable } from "./read-file.ts";

const validators = () => import("../../protocol/validate/validators.ts");

export const validateEnvelopes: CommandHandler = async (context) => {
  const { makeStreamValidator, readJson, validateEnvelope } = await validators();
  const {
    level = "spec",
    strict = false,
    stream = false,
  } = context.flags as {
    readonly level?: Level;
    readonly strict?: boolean;
    readonly stream?: boolean;
  };
  const how = { level, strict, stream };
  if (stream) {
    const validator = makeStreamValidator({ level, strict });
    const lines = await feed(bytesOf(context, "proto validate"), validator);
    return judged(context, validator.end(), { ...how, lines });
  }
  const bytes = await head(bytesOf(context, "proto validate"));
  const { command, status } = Object(readJson(bytes).value) as Record<string, unknown>;
  return judged(context, validateEnvelope(bytes, { level, strict }), { ...how, command, status });
};

export const validateEvents: CommandHandler = async (context) => {
  const strict = context.flags.strict === true;
  const { makeEventValidator } = await validators();
  const validator = makeEventValidator({ strict });
  const lines = await feed(bytesOf(context, "event validate"), validator);
  return judged(context, validator.end(), { strict, lines });
};

const inputOf = ({ flags }: Context): string => (flags.input as string | undefined) ?? "-";

const bytesOf = async function* (context: Context, command: string): AsyncGenerator<Uint8Array> {
  const input = inputOf(context);
  if (input === "-") {
    if (context.isStdinTerminal())
      throw new HoldfastError("INPUT_REQUIRED", "Nothing is piped to stdin.", {
        suggestion: `Name a file, agent ${command} --input F, or pipe one to it.`,
      });
    yield* context.stdin();
    return;
  }
  const path = resolve(context.cwd, input);
  try {
    yield* bytesOfFile(path);
  } catch (cause) {
    throw invalid([`--input ${path} ${whyUnreadable(cause)}`], command);
  }
};

/** The whole input, or at least one byte more than the limit. */
const head = async (parts: AsyncIterable<Uint8Array>): Promise<Uint8Array> => {
  const held: Uint8Array[] = [];
  let size = 0;
  for await (const part of parts) {
    held.push(part);
    size += part.length;
    if (size > ENVELOPE_MAX_BYTES) break;
  }
  return Buffer.concat(held);
};

/** Returns the number of lines; the last one may lack its line end. */
const feed = async (parts: AsyncIterable<Uint8Array>, validator: LineValidator): Promise<number> => {
  const splitter = makeLineSplitter(ENVELOPE_MAX_BYTES);
  let lines = 0;
  const push = (bytes: Uint8Array): void => {
    for (const line of splitter.push(Buffer.from(bytes))) {
      lines += 1;
      validator.line("tooLong" in line ? undefined : line.text);
    }
  };
  for await (const part of parts) push(part);
  if (splitter.isInside()) push(Buffer.from("\n"));
  return lines;
};

const sentenceOf = ({ rule, place: { pointer, line }, message }: Finding): string =>
  `Line ${line}${pointer === "" ? "" : `, ${pointer}`} (${rule}): ${message}`;

/** One sentence a finding for people; the findings themselves for programs. */
const judged = (context: Context, findings: Findings, how: Omit<Valid, "valid" | "input">): CommandResult => {
  const input = inputOf(context);
  const count = findings.count();
  const first = findings.list[0];
  if (first === undefined) return success({ valid: true, input, ...how } satisfies Valid);
  const omitted = count - findings.list.length;
  const sentences = findings.list.map((finding) => `${sentenceOf(finding)} ${finding.remedy}`);
  const problems = omitted === 0 ? sentences : [...sentences, `There are ${omitted} more.`];
  // In text mode the list of problems begins with the first finding.
  const message = context.mode === "text" ? `${count} findings` : `${count} findings. ${sentenceOf(first)}`;
  return failure(
    new HoldfastError("ENVELOPE_INVALID", count > 1 ? message : sentenceOf(first), {
      phase: "validation",
      suggestion: count === 1 ? first.remedy : "Correct what the findings name, then check again.",
      ...(context.mode === "text"
        ? { problems }
        : { details: { valid: false, input, ...how, findings: findings.list, omitted } }),
    }),
  );
};
