/**
 * A client's connection to the daemon of another host: a program joins it to `agent relay --stdio` there, which joins it to that
 * daemon's socket. The program is the connection and nothing else: its end ends no worker. The first line from the relay is the
 * answer to its own `daemon/status`.
 */
import { execFile, spawn } from "node:child_process";
import { promisify } from "node:util";
import { type HostAddress, relayArgv } from "../base/host-address.ts";
import {
  CAS_OBJECT_MAX_BYTES,
  HOST_ANSWER_MAX_MS,
  HOST_SAID_MAX_CHARS,
  REPLY_MAX_BYTES,
} from "../base/limits.ts";
import { makeLineSplitter } from "../base/line-splitter.ts";
import { commandLine } from "../base/shell.ts";
import { type EnvelopeV1, type ErrorEnvelope, type OkEnvelope, outcomeOf } from "../protocol/envelope-v1.ts";
import { HoldfastError } from "../protocol/errors.ts";
import { type Client, makeClient, valueOrThrow, type Wire } from "./client.ts";

export interface HostAsked {
  readonly host: HostAddress;
  /** The state directory on that host. Default: that of its user. */
  readonly stateDir?: string | undefined;
  /** Starts a daemon there if none runs. */
  readonly start: boolean;
}

/** A connection, and the version of the daemon behind it. */
export interface HostClient {
  readonly client: Client;
  readonly version: string;
}

const argvOf = ({ host, stateDir }: HostAsked, ...words: readonly string[]): readonly string[] =>
  relayArgv(host, ["agent", ...words, ...(stateDir === undefined ? [] : ["--state-dir", stateDir])]);

/**
 * Fails with the relay's error, or with UNAVAILABLE if the program ends before the relay answers or HOST_ANSWER_MAX_MS pass;
 * the last line that it wrote on stderr is quoted.
 */
export const connectHost = async (asked: HostAsked): Promise<HostClient> => {
  const argv = argvOf(asked, "relay", "--stdio", ...(asked.start ? ["--start"] : []));
  const program = startProgram(argv);
  const timer = setTimeout(program.destroy, HOST_ANSWER_MAX_MS);
  const first = await program.firstLine().finally(() => clearTimeout(timer));
  const answer = first === undefined ? undefined : answerIn(first);
  if (answer === undefined) {
    program.destroy();
    const said = program.said();
    throw new HoldfastError(
      "UNAVAILABLE",
      `The host ${asked.host.text} gives no connection to a daemon${said === "" ? "" : `: ${said.replace(/\.$/, "")}`}.`,
      { suggestion: `Try it by hand: ${commandLine(argv)}`, details: { host: asked.host.text } },
    );
  }
  try {
    const { version } = valueOrThrow(outcomeOf(answer)) as { readonly version: string };
    return { client: makeClient(program), version };
  } catch (cause) {
    program.destroy();
    throw cause;
  }
};

/** The bytes of an artifact on another host. */
export const artifactOfHost = async (asked: HostAsked, digest: string): Promise<Uint8Array> => {
  const [file = "", ...args] = argvOf(asked, "cas", "get", digest);
  const options = {
    encoding: "buffer",
    maxBuffer: CAS_OBJECT_MAX_BYTES,
    timeout: HOST_ANSWER_MAX_MS,
  } as const;
  try {
    return (await promisify(execFile)(file, args, options)).stdout;
  } catch (cause) {
    const said = String((cause as { readonly stderr?: Buffer }).stderr ?? "")
      .trim()
      .split("\n")[0];
    throw new HoldfastError(
      "ARTIFACT_NOT_FOUND",
      `The host ${asked.host.text} does not give the artifact ${digest}${said ? `: ${said.replace(/\.$/, "")}` : ""}.`,
      { cause },
    );
  }
};

/** Undefined for a line of anything else, as a login script may print it. */
const answerIn = (line: Buffer): OkEnvelope | ErrorEnvelope | undefined => {
  try {
    const json = JSON.parse(line.toString("utf8")) as EnvelopeV1 | null;
    const isAnswer = json?.version === 1 && json.command === "daemon/status" && json.status !== "progress";
    return isAnswer ? json : undefined;
  } catch {
    return undefined;
  }
};

interface Program extends Wire {
  /** Undefined if the program ends first. Asked once, before anything else is read. */
  firstLine(): Promise<Buffer | undefined>;
  /** The last line on stderr, or the reason why it does not run. */
  said(): string;
  readonly destroy: () => void;
}

const startProgram = ([file = "", ...args]: readonly string[]): Program => {
  const child = spawn(file, args, { stdio: ["pipe", "pipe", "pipe"] });
  const { stdin, stdout, stderr } = child;
  let said = "";
  child.on("error", (cause) => {
    said = cause.message;
    stdout.destroy();
  });
  // The program may end in the middle of a write; the end of its stdout tells.
  stdin.on("error", () => undefined);
  stderr.setEncoding("utf8").on("data", (text: string) => {
    said = `${said}${text}`.slice(-HOST_SAID_MAX_CHARS);
  });
  const chunks = stdout[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  const splitter = makeLineSplitter(REPLY_MAX_BYTES);
  return {
    firstLine: async () => {
      try {
        // Nothing follows the first line until something is asked.
        for (let next = await chunks.next(); next.done !== true; next = await chunks.next())
          for (const line of splitter.push(next.value)) return "text" in line ? line.text : undefined;
      } catch {
        // The stream was destroyed.
      }
      return undefined;
    },
    said: () => said.trim().split("\n").at(-1)!.trim(),
    [Symbol.asyncIterator]: () => chunks,
    write: (text) => stdin.write(text),
    destroy: () => {
      for (const stream of [stdin, stdout, stderr]) stream.destroy();
      child.kill();
    },
  };
};
