/** One call to one exit code: the handler's outcome, the wish to stop, the clean-up, and one rendering. */

import { PRINTED_HEARTBEAT_MS } from "../base/limits.ts";
import { type Artifactizer, artifactizer, outputLimits } from "../protocol/artifactize.ts";
import { asHoldfastError, HoldfastError } from "../protocol/errors.ts";
import type { Outcome } from "../protocol/outcome.ts";
import { failure } from "../protocol/outcome.ts";
import type { LogRecord } from "../protocol/records.ts";
import { redactOutcome, redactText } from "../protocol/redact.ts";
import { exitCodeOf } from "../protocol/response-envelope.ts";
import { generationOf, modeOf, paintFor } from "./choices.ts";
import {
  type Context,
  connector,
  type Env,
  ERASE_LINE,
  type Result,
  type Streams,
  spinner,
  stateDirOf,
  versionProblem,
} from "./context.ts";
import { HANDLERS } from "./handlers.ts";
import { makeHeartbeat } from "./heartbeat.ts";
import { exitCodeOfSignal, firstInterrupt, type Interrupt } from "./interrupts.ts";
import { mistakes } from "./mistakes.ts";
import type { Call } from "./parse.ts";
import { jsonRenderer } from "./render/json.ts";
import { LineWriter } from "./render/line.ts";
import { judgedInTests, ndjsonRenderer } from "./render/ndjson.ts";
import { makePrinter } from "./render/pieces.ts";
import type { Printed, Renderer } from "./render/renderer.ts";
import { wrapLines } from "./render/terminal.ts";
import { textRenderer } from "./render/text-renderer.ts";
import { sentenceOfStall, stalledNow } from "./silence.ts";

/** For people who compare logs, not a secret: `node:crypto` would cost a tenth of the client's start. */
export const newRequestId = (): string =>
  `req_${Date.now().toString(36)}${Math.random().toString(36).slice(2, 10)}`;

const cancelled = (context: Context, signal: Interrupt): Result => {
  const left = context.onInterrupt;
  const error = new HoldfastError(
    "CANCELLED",
    `Stopped by ${signal}.`,
    left && {
      suggestion: left.sentence,
      ...(left.workers && { details: { workers_left_running: left.workers } }),
    },
  );
  return { ...failure(error), exit: exitCodeOfSignal(signal) };
};

/** The handler's result, or CANCELLED as soon as the person asks to stop. */
const settle = async (context: Context, interrupted: Promise<Interrupt> | undefined): Promise<Result> => {
  const handled = HANDLERS[context.call.command.command]!(context).catch(
    (cause): Result => failure(asHoldfastError(cause)),
  );
  if (interrupted === undefined) return handled;
  return Promise.race([handled, interrupted.then((signal) => cancelled(context, signal))]);
};

/** With what has room in one envelope; a child's own exit code stays, unless its result could not be told. */
const inRoom = async (result: Result, artifactize: Artifactizer): Promise<Result> => {
  const { exit, meta, ...outcome } = result;
  const bounded = await artifactize.outcome(outcome as Outcome<object>);
  const told = { ...bounded, ...(meta && { meta }) };
  return exit === undefined || bounded.ok !== outcome.ok ? told : { ...told, exit };
};

/** It prints records before its envelope. */
const streamsRecords = ({ command: { stream }, flags }: Call): boolean =>
  typeof stream === "boolean" ? stream : stream.some((flag) => flags[flag] !== undefined);

export const execute = async (
  call: Call,
  { stderr, ...rest }: Streams,
  env: Env,
  started: number,
): Promise<number> => {
  const streams: Streams = { ...rest, stderr: (text) => stderr(redactText(text)) };
  const { command, flags } = call;
  const request_id = newRequestId();
  const mode = modeOf(command.command, flags, env, streams.isStdoutTerminal);
  const generation = generationOf(flags, env);
  const paint = paintFor(flags, env, streams.isStdoutTerminal);
  const errorPaint = paintFor(flags, env, streams.isStderrTerminal);
  const stateDir = stateDirOf(flags, env, process.cwd());
  const artifactize = artifactizer(async (bytes) => {
    const { artifactsToPut, REPLIES } = await import("../daemon/artifacts.ts");
    return (await artifactsToPut(stateDir, env, REPLIES).put(bytes)).digest;
  }, outputLimits(env));
  const lines = new LineWriter(paint, { verbose: flags.verbose === true, columns: streams.columns });
  const plain: Renderer =
    mode === "json"
      ? jsonRenderer({ generation, validate: env.HOLDFAST_VALIDATE === "1" })
      : mode === "ndjson"
        ? await judgedInTests(ndjsonRenderer(command.command, request_id, started), env)
        : textRenderer({
            paint,
            errorPaint,
            flags,
            isStdoutTerminal: streams.isStdoutTerminal,
            columns: streams.columns,
            errorColumns: streams.errorColumns,
            printer: makePrinter(lines),
          });
  const isHeld = env.HOLDFAST_VALIDATE === "1" && mode !== "text";
  const renderer = isHeld ? (await import("./published.ts")).heldToSchema(plain, command) : plain;
  const warnings: string[] = [];
  const advice: string[] = [];
  const cleanups: Context["cleanups"] = [];
  const warn = (text: string): void => {
    if (!warnings.includes(text)) warnings.push(text);
  };
  const compareVersions = (): void => {
    const problem = versionProblem(stateDir);
    if (problem !== undefined && !command.command.startsWith("daemon/")) warn(problem);
  };
  const onConnect = (): void => {
    compareVersions();
    const stalled = stalledNow(stateDir);
    if (stalled !== undefined) context.notice(sentenceOfStall(stalled));
  };
  const print = (result: Result): { readonly printed: Printed; readonly exit: number } => {
    const exit = result.exit ?? exitCodeOf(result, generation);
    ended = true;
    const outcome = redactOutcome<unknown>({
      ...result,
      warnings: [...(result.warnings ?? []), ...warnings],
    });
    const duration_ms = Math.round(performance.now() - started);
    const meta = retries === 0 ? result.meta : { ...result.meta, retries };
    return { printed: renderer.end({ command, outcome, exit, duration_ms, request_id, meta }), exit };
  };
  /** Whether the envelope is printed: nothing comes after it. */
  let ended = false;
  let isReaderBehind = false;
  const write = (text: string): void | Promise<void> => {
    if (text === "" || ended) return undefined;
    heartbeat.printed();
    const taken = streams.stdout(text);
    if (taken === undefined) return undefined;
    isReaderBehind = true;
    return taken.then(() => {
      isReaderBehind = false;
    });
  };
  const endLine = (): void => void write(renderer.rest?.() ?? "");
  let step: string | undefined;
  let retries = 0;
  const heartbeat = makeHeartbeat(
    (flags["heartbeat-ms"] as number | undefined) ?? PRINTED_HEARTBEAT_MS,
    started,
    (elapsed_ms) => {
      if (ended || isReaderBehind) return;
      if (streamsRecords(call)) {
        const beat = { status: "running", heartbeat: true, elapsed_ms, ...(step !== undefined && { step }) };
        if (mode !== "text") streams.stdout(renderer.record(beat as unknown as LogRecord));
      } else if (step !== undefined && !streams.isStderrTerminal)
        streams.stderr(`[${Math.round(elapsed_ms / 1000)}s] ${step}\n`);
    },
  );
  const context: Context = {
    ...streams,
    call,
    flags,
    env,
    stateDir,
    mode,
    paint,
    errorPaint,
    warnings,
    warn,
    cleanups,
    cwd: process.cwd(),
    connect: connector(stateDir, env, onConnect, cleanups),
    record: (record) => {
      if (ended) return undefined;
      if (mode !== "ndjson") return write(renderer.record(record));
      const json = JSON.stringify(record);
      const large = artifactize.record(json);
      if (large === undefined) return write(renderer.record(record, json));
      return large.then((moved) => (ended ? undefined : write(renderer.record(moved as LogRecord))));
    },
    line: (value) => context.record(value as LogRecord),
    know: lines.know,
    hint: (text, when = "now") => {
      if (mode !== "text" || !streams.isStderrTerminal) return;
      const line = `${errorPaint("dim", wrapLines(text, streams.errorColumns))}\n`;
      if (when === "after") return void advice.push(line);
      endLine();
      streams.stderr(line);
    },
    notice: (text) => {
      if (mode === "json") warn(text);
      endLine();
      streams.stderr(
        `${streams.isStderrTerminal ? ERASE_LINE : ""}${errorPaint("warn", wrapLines(text, streams.errorColumns))}\n`,
      );
    },
    finish: (result) => void streams.stdout(print(result).printed.stdout),
    progress: (text) => {
      step = text;
      const end = spinner(streams, errorPaint, text);
      const done = () => {
        step = undefined;
        end();
      };
      cleanups.push(done);
      return done;
    },
    retried: () => {
      retries += 1;
    },
    onInterrupt: undefined,
  };
  const error = mistakes(call, { env, cwd: context.cwd });
  // The daemon in the foreground has its own way to end.
  const result: Result = error
    ? failure(error)
    : await settle(context, command.command === "daemon/run" ? undefined : firstInterrupt());
  heartbeat.stop();
  for (const cleanup of cleanups.reverse()) await cleanup();
  const { printed, exit } = print(mode === "ndjson" ? await inRoom(result, artifactize) : result);
  if (printed.stdout !== "") await streams.stdout(printed.stdout);
  for (const text of [printed.stderr, ...advice]) if (text !== "") streams.stderr(text);
  return exit;
};
