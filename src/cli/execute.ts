/** Runs one call to its exit code: the handler, the user's wish to stop, the clean-up, and the printing. */

import type { NamedHost } from "../base/host-address.ts";
import { PRINTED_HEARTBEAT_MS } from "../base/limits.ts";
import { type Artifactizer, artifactizer, outputLimits } from "../protocol/artifactize.ts";
import { asHoldfastError, HoldfastError } from "../protocol/errors.ts";
import { COMMAND_FORM } from "../protocol/forms.ts";
import type { Outcome } from "../protocol/outcome.ts";
import { failure } from "../protocol/outcome.ts";
import type { LogRecord } from "../protocol/records.ts";
import { redactOutcome, redactText } from "../protocol/redact.ts";
import { exitCodeOf } from "../protocol/response-envelope.ts";
import { commandsAt, leadingTo, ofHost } from "./at-host.ts";
import { generationOf, modeOf, paintFor } from "./choices.ts";
import { elsewhereToo, unknownNodes } from "./cluster-hosts.ts";
import {
  type CommandHandler,
  type CommandResult,
  type Context,
  connector,
  type Env,
  ERASE_LINE,
  type Streams,
  spinner,
  stateDirOf,
  versionProblem,
} from "./context.ts";
import { HANDLERS } from "./handlers.ts";
import { type IdlePrinter, makeHeartbeat } from "./heartbeat.ts";
import { isOverHosts, onlyHostOf, runsOnEach } from "./host-calls.ts";
import { hostConnector, hostVersionProblem } from "./hosts.ts";
import { exitCodeOfSignal, firstInterrupt, type Interrupt } from "./interrupts.ts";
import { mistakes } from "./mistakes.ts";
import type { Call } from "./parse.ts";
import { jsonRenderer } from "./render/json.ts";
import { LineWriter } from "./render/line.ts";
import { checkedInTests, ndjsonRenderer } from "./render/ndjson.ts";
import { makePrinter } from "./render/pieces.ts";
import type { Printout, Renderer } from "./render/renderer.ts";
import { wrapLines } from "./render/terminal.ts";
import { textRenderer } from "./render/text-renderer.ts";
import { sentenceOfStall, stalledNow } from "./silence.ts";

/** An id for people who compare logs, not a secret: `node:crypto` would take a tenth of the client's start. */
export const newRequestId = (): string =>
  `req_${Date.now().toString(36)}${Math.random().toString(36).slice(2, 10)}`;

const cancelled = (context: Context, signal: Interrupt): CommandResult => {
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

const onEachHost = async (context: Context, handler: CommandHandler): Promise<CommandResult> =>
  (await import("./over-hosts.ts")).overHosts(context, handler);

/** The handler's result, or CANCELLED as soon as the user asks to stop. */
const settle = async (
  context: Context,
  interrupted: Promise<Interrupt> | undefined,
): Promise<CommandResult> => {
  const { call } = context;
  const handler = HANDLERS[call.command.command]!;
  const handling = (runsOnEach(call) ? onEachHost(context, handler) : handler(context)).catch(
    (cause): CommandResult => failure(asHoldfastError(cause)),
  );
  const host = onlyHostOf(call);
  const handled = handling.then((result) =>
    host !== undefined
      ? ofHost(host, result)
      : call.hosts === undefined
        ? elsewhereToo(result, call, context.stateDir)
        : result,
  );
  if (interrupted === undefined) return handled;
  const stopped = interrupted.then((signal) => cancelled(context, signal));
  return Promise.race([handled, host === undefined ? stopped : stopped.then((it) => leadingTo(host, it))]);
};

/** The result with data that fits into one envelope. A child's own exit code stays, unless the result is too large. */
const inRoom = async (result: CommandResult, artifactize: Artifactizer): Promise<CommandResult> => {
  const { exit, meta, ...outcome } = result;
  const bounded = await artifactize.outcome(outcome as Outcome<object>);
  const told = { ...bounded, ...(meta && { meta }) };
  return exit === undefined || bounded.ok !== outcome.ok ? told : { ...told, exit };
};

/** Whether the command prints records before its envelope. */
const streamsRecords = ({ command: { stream }, flags }: Call): boolean =>
  typeof stream === "boolean" ? stream : stream.some((flag) => flags[flag] !== undefined);

export const execute = async (
  call: Call,
  { stderr, ...rest }: Streams,
  env: Env,
  started: number,
): Promise<number> => {
  const streams: Streams = { ...rest, stderr: (text) => stderr(redactText(text)) };
  const printing = await Printing.of({ call, streams, env, started });
  const context = printing.context();
  const error = mistakes(call, { env, cwd: context.cwd });
  // The daemon in the foreground handles its end itself.
  const isDaemon = call.command.command === "daemon/run";
  const result: CommandResult = error
    ? failure(error)
    : await settle(context, isDaemon ? undefined : firstInterrupt());
  return printing.end(result, context.cleanups);
};

interface Execution {
  readonly call: Call;
  readonly streams: Streams;
  readonly env: Env;
  /** When the process began, in milliseconds of `performance.now()`. */
  readonly started: number;
}

/** The parts of a call's printing that stay the same. */
const meansOf = (asked: Execution) => {
  const { call, streams, env } = asked;
  const { command, flags } = call;
  const paint = paintFor(flags, env, streams.isStdoutTerminal);
  return {
    ...asked,
    mode: modeOf(command.command, flags, env, streams.isStdoutTerminal),
    paint,
    errorPaint: paintFor(flags, env, streams.isStderrTerminal),
    request_id: newRequestId(),
    stateDir: stateDirOf(flags, env, process.cwd()),
    lines: new LineWriter(paint, {
      verbose: flags.verbose === true,
      timestamps: flags.timestamps === true,
      columns: streams.columns,
    }),
  };
};

type Means = ReturnType<typeof meansOf>;

/** The envelope of a run bears the name of its skill, as that of the skill itself does (protocol-v1.txt, command). */
const envelopeCommand = ({ command: { command }, args: [skill = ""] }: Call): string =>
  command === "skill/run" && COMMAND_FORM.test(skill) ? skill : command;

const rendererOf = async (means: Means): Promise<Renderer> => {
  const { call, streams, env, started, mode, request_id, paint, errorPaint, lines } = means;
  const { command, flags } = call;
  const { isStdoutTerminal, columns, errorColumns } = streams;
  const validate = env.HOLDFAST_VALIDATE === "1";
  const printer = makePrinter(lines);
  const isMerged = isOverHosts(call);
  const plain =
    mode === "json"
      ? jsonRenderer({ generation: generationOf(flags, env), validate, isOverHosts: isMerged })
      : mode === "ndjson"
        ? await checkedInTests(ndjsonRenderer(envelopeCommand(call), request_id, started), env)
        : textRenderer({
            paint,
            errorPaint,
            flags,
            isStdoutTerminal,
            columns,
            errorColumns,
            printer,
            isOverHosts: isMerged,
          });
  if (!validate || mode === "text") return plain;
  return (await import("./data-check.ts")).withDataCheck(plain, command, isMerged);
};

/** The output of one call: records as they arrive, signs of life between them, and finally one envelope. */
class Printing {
  private readonly means: Means;
  private readonly renderer: Renderer;
  private readonly artifactize: Artifactizer;
  private readonly heartbeat: IdlePrinter;
  private readonly warnings: string[] = [];
  /** Lines for people, printed after the result. */
  private readonly advice: string[] = [];
  /** The envelope is printed. */
  private ended = false;
  private isReaderBehind = false;
  /** The slow step that runs now, named in signs of life. */
  private step: (() => string) | undefined;
  private retries = 0;

  static async of(asked: Execution): Promise<Printing> {
    const means = meansOf(asked);
    return new Printing(means, await rendererOf(means));
  }

  private constructor(means: Means, renderer: Renderer) {
    this.means = means;
    this.renderer = renderer;
    const { call, env, started, stateDir } = means;
    this.artifactize = artifactizer(async (bytes) => {
      const { artifactsToPut, REPLIES } = await import("../daemon/artifacts.ts");
      return (await artifactsToPut(stateDir, env, REPLIES).put(bytes)).digest;
    }, outputLimits(env));
    const every_ms = (call.flags["heartbeat-ms"] as number | undefined) ?? PRINTED_HEARTBEAT_MS;
    this.heartbeat = makeHeartbeat(every_ms, started, (elapsed_ms) => this.beat(elapsed_ms));
  }

  context(): Context {
    const { call, streams, env, stateDir, mode, paint, errorPaint, lines } = this.means;
    const cleanups: Context["cleanups"] = [];
    const host = onlyHostOf(call);
    const told = (text: string): string => (host === undefined ? text : commandsAt(host, text));
    return {
      ...streams,
      call,
      flags: call.flags,
      env,
      stateDir,
      mode,
      paint,
      errorPaint,
      warnings: this.warnings,
      warn: (text) => this.warn(told(text)),
      cleanups,
      cwd: process.cwd(),
      connect: this.connector(cleanups, call.hosts?.[0]),
      connectTo: (host) => this.connector(cleanups, host),
      host: host?.address && host.name,
      at: () => undefined,
      late_ms: () => 0,
      record: (record) => this.record(record),
      line: (value) => this.record(value as LogRecord),
      know: lines.know,
      hint: (text, when = "now") => this.hint(told(text), when),
      notice: (text) => this.notice(told(text)),
      finish: (result) => void streams.stdout(this.print(result).printed.stdout),
      progress: (text, soFar) => this.progress(() => text + (soFar?.() ?? ""), cleanups),
      retried: () => {
        this.retries += 1;
      },
      onInterrupt: undefined,
    };
  }

  /** Prints the result after the clean-up and returns the exit code. */
  async end(result: CommandResult, cleanups: Context["cleanups"]): Promise<number> {
    const { streams, mode } = this.means;
    this.heartbeat.stop();
    for (const cleanup of cleanups.reverse()) await cleanup();
    const { printed, exit } = this.print(mode === "ndjson" ? await inRoom(result, this.artifactize) : result);
    if (printed.stdout !== "") await streams.stdout(printed.stdout);
    for (const text of [printed.stderr, ...this.advice]) if (text !== "") streams.stderr(text);
    return exit;
  }

  private print(result: CommandResult): { readonly printed: Printout; readonly exit: number } {
    const { call, env, started, request_id } = this.means;
    const { command, flags } = call;
    const exit = result.exit ?? exitCodeOf(result, generationOf(flags, env));
    this.ended = true;
    const warnings = [...(result.warnings ?? []), ...this.warnings];
    const outcome = redactOutcome<unknown>({ ...result, warnings });
    const duration_ms = Math.round(performance.now() - started);
    const meta = this.retries === 0 ? result.meta : { ...result.meta, retries: this.retries };
    return { printed: this.renderer.end({ command, outcome, exit, duration_ms, request_id, meta }), exit };
  }

  private write(text: string): void | Promise<void> {
    if (text === "" || this.ended) return undefined;
    this.heartbeat.printed();
    const taken = this.means.streams.stdout(text);
    if (taken === undefined) return undefined;
    this.isReaderBehind = true;
    return taken.then(() => {
      this.isReaderBehind = false;
    });
  }

  private record(record: LogRecord): void | Promise<void> {
    if (this.ended) return undefined;
    if (this.means.mode !== "ndjson") return this.write(this.renderer.record(record));
    const json = JSON.stringify(record);
    const large = this.artifactize.record(json);
    if (large === undefined) return this.write(this.renderer.record(record, json));
    return large.then((moved) =>
      this.ended ? undefined : this.write(this.renderer.record(moved as LogRecord)),
    );
  }

  private beat(elapsed_ms: number): void {
    const { call, streams, mode } = this.means;
    const step = this.step?.();
    if (this.ended || this.isReaderBehind) return;
    if (streamsRecords(call)) {
      const beat = { status: "running", heartbeat: true, elapsed_ms, ...(step !== undefined && { step }) };
      if (mode !== "text") streams.stdout(this.renderer.record(beat as unknown as LogRecord));
    } else if (step !== undefined && !streams.isStderrTerminal)
      streams.stderr(`[${Math.round(elapsed_ms / 1000)}s] ${step}\n`);
  }

  private endLine(): void {
    void this.write(this.renderer.rest?.() ?? "");
  }

  private warn(text: string): void {
    if (!this.warnings.includes(text)) this.warnings.push(text);
  }

  private connector(cleanups: Context["cleanups"], host?: NamedHost): Context["connect"] {
    const { env, stateDir, call } = this.means;
    const { trouble } = host ?? {};
    if (trouble !== undefined) return () => Promise.reject(unknownNodes(trouble));
    if (host?.address === undefined)
      return connector(stateDir, env, process.cwd(), () => this.connected(), cleanups);
    const there = call.flags["state-dir"] as string | undefined;
    const connected = (version: string): void => {
      const problem = hostVersionProblem(host.name, version);
      if (problem !== undefined) this.warn(commandsAt(host, problem));
    };
    return hostConnector(host.address, there, connected, cleanups);
  }

  private connected(): void {
    const { call, stateDir } = this.means;
    const problem = versionProblem(stateDir);
    if (problem !== undefined && !call.command.command.startsWith("daemon/")) this.warn(problem);
    const stalled = stalledNow(stateDir);
    if (stalled !== undefined) this.notice(sentenceOfStall(stalled));
  }

  private hint(text: string, when: "now" | "after"): void {
    const { streams, mode, errorPaint } = this.means;
    if (mode !== "text" || !streams.isStderrTerminal) return;
    const line = `${errorPaint("dim", wrapLines(text, streams.errorColumns))}\n`;
    if (when === "after") return void this.advice.push(line);
    this.endLine();
    streams.stderr(line);
  }

  private notice(text: string): void {
    const { streams, mode, errorPaint } = this.means;
    if (mode === "json") this.warn(text);
    this.endLine();
    const erased = streams.isStderrTerminal ? ERASE_LINE : "";
    streams.stderr(`${erased}${errorPaint("warn", wrapLines(text, streams.errorColumns))}\n`);
  }

  private progress(text: () => string, cleanups: Context["cleanups"]): () => void {
    this.step = text;
    const end = spinner(this.means.streams, this.means.errorPaint, text);
    const done = () => {
      this.step = undefined;
      end();
    };
    cleanups.push(done);
    return done;
  }
}
