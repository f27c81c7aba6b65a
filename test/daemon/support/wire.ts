/** A client of the socket for tests, and a daemon in this process over a fake runtime. */
import { mkdtemp, rm } from "node:fs/promises";
import { createConnection, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Deferred, Effect, type Exit, Fiber } from "effect";
import { makeDefects } from "../../../src/actors/defects.ts";
import { logOutput } from "../../../src/daemon/log-output.ts";
import { runDaemon } from "../../../src/daemon/main.ts";
import { socketPath } from "../../../src/daemon/paths.ts";
import type { HoldfastError } from "../../../src/protocol/errors.ts";
import { type FakeRuntime, makeFakeRuntime } from "./fake-runtime.ts";

export interface Envelope {
  readonly status: "ok" | "error" | "progress";
  readonly command: string;
  readonly data: Record<string, unknown>;
  readonly meta: { readonly request_id?: string; readonly trace_id?: string; readonly seq?: number };
  readonly error: {
    readonly code: string | null;
    readonly message: string | null;
    readonly details: Record<string, unknown>;
  };
}

export const until = async (
  what: string,
  condition: () => boolean | Promise<boolean>,
  ms = 100_000,
): Promise<void> => {
  const deadline = Date.now() + ms;
  while (!(await condition())) {
    if (Date.now() > deadline) throw new Error(`not within ${ms} ms: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
};

export interface Client {
  readonly socket: Socket;
  readonly received: Envelope[];
  send(command: string, data?: object, request_id?: string): void;
  /** The terminal envelope of a request id. */
  answer(request_id: string): Promise<Envelope>;
  closed(): boolean;
}

export const connect = async (path: string): Promise<Client> => {
  const socket = createConnection({ path, allowHalfOpen: true });
  await new Promise<void>((resolve, reject) => socket.once("connect", resolve).once("error", reject));
  const received: Envelope[] = [];
  let rest = "";
  let closed = false;
  socket.setEncoding("utf8");
  socket.on("data", (text: string) => {
    const lines = (rest + text).split("\n");
    rest = lines.pop()!;
    for (const line of lines) received.push(JSON.parse(line));
  });
  socket.on("error", () => {});
  socket.on("end", () => {
    closed = true;
    socket.end();
  });
  socket.on("close", () => {
    closed = true;
  });
  return {
    socket,
    received,
    send: (command, data = {}, request_id) =>
      void socket.write(`${JSON.stringify({ version: 1, command, data, meta: { request_id } })}\n`),
    answer: async (id) => {
      const find = () => received.find((one) => one.meta.request_id === id && one.status !== "progress");
      await until(`an answer to ${id}`, () => find() !== undefined);
      return find()!;
    },
    closed: () => closed,
  };
};

export interface TestDaemon {
  readonly runtime: FakeRuntime;
  readonly stateDir: string;
  readonly socket: string;
  readonly logged: { readonly level: string; readonly message: string }[];
  /** Ask it to stop as a signal would, and wait for its end. */
  stop(): Promise<void>;
  /** Resolves when the daemon has ended. */
  readonly ended: Promise<Exit.Exit<void, HoldfastError>>;
}

export const temporaryDirectory = (): Promise<string> => mkdtemp(join(tmpdir(), "holdfast-test-"));
export const removeDirectory = (path: string): Promise<void> => rm(path, { recursive: true, force: true });

export const startTestDaemon = async (
  runtime: FakeRuntime = makeFakeRuntime(),
  env: Record<string, string> = {},
): Promise<TestDaemon> => {
  const root = await temporaryDirectory();
  const stateDir = join(root, "holdfast");
  const logged: TestDaemon["logged"] = [];
  const signal = Deferred.makeUnsafe<string>();
  const fiber = Effect.runFork(
    runDaemon({
      stateDir,
      version: "0.0.0",
      env: { XDG_STATE_HOME: root, HOLDFAST_VALIDATE: "1", ...env },
      home: root,
      log: (level, message) => void logged.push({ level, message }),
      output: logOutput(process.stderr),
      defects: makeDefects((message) => void logged.push({ level: "error", message })),
      openRuntime: () => Effect.succeed(runtime),
      signalled: Deferred.await(signal),
    }),
  );
  const ended = Effect.runPromise(Fiber.await(fiber));
  await until("the daemon listens", () => {
    const exit = fiber.pollUnsafe();
    if (exit !== undefined) throw new Error(`the daemon ended: ${exit}`);
    return logged.some(({ message }) => message === "listening");
  });
  return {
    runtime,
    stateDir,
    socket: socketPath(stateDir, process.getuid!()),
    logged,
    ended,
    stop: async () => {
      Effect.runSync(Deferred.succeed(signal, "SIGTERM"));
      await ended;
      await removeDirectory(root);
    },
  };
};
