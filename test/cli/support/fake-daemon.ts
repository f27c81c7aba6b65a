/** A daemon that answers what a test tells it to, on a real socket in a state directory of its own. */
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { socketPath } from "../../../src/daemon/paths.ts";
import { envelopeStream } from "../../../src/protocol/envelope-v1.ts";
import { asHoldfastError } from "../../../src/protocol/errors.ts";
import { failure, type Outcome, success } from "../../../src/protocol/outcome.ts";
import type { LogRecord } from "../../../src/protocol/records.ts";

/** Gives the data of the answer, or throws the error. `emit` sends a record first. An Outcome is answered as it is. */
export type Answerer = (data: Record<string, unknown>, emit: (record: LogRecord) => void) => unknown;

export interface FakeDaemon {
  readonly stateDir: string;
  /** Commands and their data, in the order in which they came. */
  readonly requests: { readonly command: string; readonly data: Record<string, unknown> }[];
  close(): Promise<void>;
}

/** A command may ask for these beside what the test is about. */
const ALWAYS: Readonly<Record<string, Answerer>> = {
  "daemon/status": () => ({ head: 0, epoch: "EPOCH" }),
  "agent/tree": () => ({ id: "root", name: "root", type: "supervisor", children: [] }),
};

const isOutcome = (value: unknown): value is Outcome<object> =>
  typeof value === "object" && value !== null && "ok" in value && ("value" in value || "error" in value);

export const fakeDaemon = async (answers: Readonly<Record<string, Answerer>>): Promise<FakeDaemon> => {
  const stateDir = mkdtempSync(join(tmpdir(), "holdfast-cli-"));
  const requests: FakeDaemon["requests"] = [];
  const server: Server = createServer((socket) => {
    let held = "";
    socket.on("error", () => {});
    socket.on("data", (chunk) => {
      held += chunk;
      const lines = held.split("\n");
      held = lines.pop()!;
      for (const line of lines) void answer(JSON.parse(line));
    });
    const answer = async ({
      command,
      data,
      meta,
    }: {
      command: string;
      data: Record<string, unknown>;
      meta: { request_id: string };
    }) => {
      requests.push({ command, data });
      const stream = envelopeStream({ command, profiles: [], request_id: meta.request_id });
      const time = () => ({ now_ms: Date.now(), duration_ms: 1 });
      const emit = (record: LogRecord) =>
        void socket.write(stream.progress([JSON.stringify(record)], time()));
      let outcome: Outcome<object>;
      try {
        const answerOf = answers[command] ?? ALWAYS[command];
        const value = await answerOf?.(data, emit);
        outcome = isOutcome(value) ? value : success((value ?? {}) as object);
      } catch (cause) {
        outcome = failure(asHoldfastError(cause));
      }
      if (socket.writable) socket.write(stream.end(outcome, time()));
    };
  });
  await new Promise<void>((resolve) => server.listen(socketPath(stateDir, process.getuid?.() ?? 0), resolve));
  return {
    stateDir,
    requests,
    close: () =>
      new Promise((resolve) => {
        server.close(() => {
          rmSync(stateDir, { recursive: true, force: true });
          resolve();
        });
      }),
  };
};
