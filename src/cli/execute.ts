/** One call to one exit code: the handler's outcome, the wish to stop, the clean-up, and one rendering. */
import { type Artifactizer, artifactizer, outputLimits } from "../protocol/artifactize.ts";
import { asHoldfastError, HoldfastError } from "../protocol/errors.ts";
import type { Outcome } from "../protocol/outcome.ts";
import { failure } from "../protocol/outcome.ts";
import type { LogRecord } from "../protocol/records.ts";
import { exitCodeOf } from "../protocol/response-envelope.ts";
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
import { CHECKS, HANDLERS } from "./handlers.ts";
import { exitCodeOfSignal, firstInterrupt, type Interrupt } from "./interrupts.ts";
import { type Call, invalid } from "./parse.ts";
import { jsonRenderer } from "./render/json.ts";
import { makeLineWriter } from "./render/line.ts";
import { judgedInTests, ndjsonRenderer } from "./render/ndjson.ts";
import type { Mode, Printed, Renderer } from "./render/renderer.ts";
import { colourPaint, type Paint, plainPaint } from "./render/terminal.ts";
import { textRenderer } from "./render/text-renderer.ts";
import { sentenceOfStall, stalledNow } from "./silence.ts";

const MODES: readonly string[] = ["text", "json", "ndjson"] satisfies Mode[];

/** Flag, then HOLDFAST_OUTPUT, then what stdout is (cli.md, Output). */
const modeOf = (flags: Readonly<Record<string, unknown>>, env: Env, isTerminal: boolean): Mode => {
  const asked = flags.output ?? env.HOLDFAST_OUTPUT;
  if (typeof asked === "string" && MODES.includes(asked)) return asked as Mode;
  return isTerminal && !env.CI ? "text" : "json";
};

export const paintFor = (flags: Readonly<Record<string, unknown>>, env: Env, isTerminal: boolean): Paint =>
  isTerminal && !flags["no-color"] && !env.NO_COLOR && env.TERM !== "dumb" ? colourPaint : plainPaint;

/** For people who compare logs, not a secret: `node:crypto` would cost a tenth of the client's start. */
const newRequestId = (): string => `req_${Date.now().toString(36)}${Math.random().toString(36).slice(2, 10)}`;

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
  const { exit, ...outcome } = result;
  const bounded = await artifactize.outcome(outcome as Outcome<object>);
  return exit === undefined || bounded.ok !== outcome.ok ? bounded : { ...bounded, exit };
};

/** Every mistake of the call, of its command and of the environment, in one error. */
const mistakes = (call: Call, env: Env): HoldfastError | undefined => {
  if (call.unknown) return call.unknown;
  const problems = [
    ...call.problems,
    ...outputLimits(env).problems,
    ...(CHECKS[call.command.command]?.(call) ?? []),
  ];
  const { HOLDFAST_OUTPUT: mode } = env;
  if (mode && !MODES.includes(mode))
    problems.push(`HOLDFAST_OUTPUT is one of ${MODES.join(", ")}, not "${mode}"`);
  return problems.length > 0 ? invalid(problems, call.command.words.join(" ")) : undefined;
};

export const execute = async (call: Call, streams: Streams, env: Env, started: number): Promise<number> => {
  const { command, flags } = call;
  const request_id = newRequestId();
  // A completion script is eval'ed, an export is lines already, an artifact is its bytes: text unless something else is asked for by name.
  const mode =
    ["agent/completion", "db/export", "cas/get"].includes(command.command) && flags.output === undefined
      ? "text"
      : modeOf(flags, env, streams.isStdoutTerminal);
  const paint = paintFor(flags, env, streams.isStdoutTerminal);
  const errorPaint = paintFor(flags, env, streams.isStderrTerminal);
  const stateDir = stateDirOf(flags, env, process.cwd());
  const artifactize = artifactizer(async (bytes) => {
    const { artifactsToPut } = await import("../daemon/artifacts.ts");
    return (await artifactsToPut(stateDir, env).put(bytes)).digest;
  }, outputLimits(env));
  const lines = makeLineWriter(paint, { verbose: flags.verbose === true });
  const renderer: Renderer =
    mode === "json"
      ? jsonRenderer
      : mode === "ndjson"
        ? await judgedInTests(ndjsonRenderer(command.command, request_id, started), env)
        : textRenderer({
            paint,
            errorPaint,
            flags,
            isStdoutTerminal: streams.isStdoutTerminal,
            columns: streams.columns,
            line: lines.line,
          });
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
    const exit = result.exit ?? exitCodeOf(result);
    const outcome: Outcome<unknown> = { ...result, warnings: [...(result.warnings ?? []), ...warnings] };
    const duration_ms = Math.round(performance.now() - started);
    return { printed: renderer.end({ command, outcome, exit, duration_ms, request_id }), exit };
  };
  const show = (record: LogRecord): void | Promise<void> => {
    const text = renderer.record(record);
    return text === "" ? undefined : streams.stdout(text);
  };
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
      const large = mode === "ndjson" ? artifactize.record(JSON.stringify(record)) : undefined;
      return large === undefined ? show(record) : large.then((moved) => show(moved as LogRecord));
    },
    line: (value) => context.record(value as LogRecord),
    know: lines.know,
    hint: (text, when = "now") => {
      if (mode !== "text" || !streams.isStderrTerminal) return;
      const line = `${errorPaint("dim", text)}\n`;
      if (when === "now") streams.stderr(line);
      else advice.push(line);
    },
    notice: (text) => {
      if (mode === "json") warn(text);
      streams.stderr(`${streams.isStderrTerminal ? ERASE_LINE : ""}${errorPaint("warn", text)}\n`);
    },
    finish: (result) => void streams.stdout(print(result).printed.stdout),
    progress: (text) => {
      const done = spinner(streams, errorPaint, text);
      cleanups.push(done);
      return done;
    },
    onInterrupt: undefined,
  };
  const error = mistakes(call, env);
  // The daemon in the foreground has its own way to end.
  const result: Result = error
    ? failure(error)
    : await settle(context, command.command === "daemon/run" ? undefined : firstInterrupt());
  for (const cleanup of cleanups.reverse()) await cleanup();
  const { printed, exit } = print(mode === "ndjson" ? await inRoom(result, artifactize) : result);
  if (printed.stdout !== "") await streams.stdout(printed.stdout);
  for (const text of [printed.stderr, ...advice]) if (text !== "") streams.stderr(text);
  return exit;
};
