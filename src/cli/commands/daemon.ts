/** agent daemon …: the daemon itself. */
import { setTimeout as sleep } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { HTTP_VARIABLE } from "../../base/environment.ts";
import { parseAddress } from "../../base/http-address.ts";
import {
  API_PORT_DEFAULT,
  DAEMON_GONE_WAIT_MS,
  DAEMON_START_POLL_MS,
  DAEMON_START_WAIT_MS,
} from "../../base/limits.ts";
import { connectDaemon } from "../../daemon/connect.ts";
import { type DaemonFile, isHolderAlive, readDaemonFile } from "../../daemon/daemon-file.ts";
import { DAEMON_NODE_FLAGS } from "../../daemon/node-flags.ts";
import type { Replies } from "../../daemon/replies.ts";
import { asHoldfastError, HoldfastError } from "../../protocol/errors.ts";
import { failure, success } from "../../protocol/outcome.ts";
import { beginAnew } from "../begin-anew.ts";
import type { CommandHandler, CommandResult, Context } from "../context.ts";
import { DAEMON_PROGRAM } from "../package.ts";
import type { Call } from "../parse.ts";
import { statusInTime } from "../silence.ts";
import { tellConfiguration } from "./added-kinds.ts";
import { countEnds } from "./count-ends.ts";

/** Turns this process into the daemon, which takes over signals, stderr and exit code. Never returns. */
export const run: CommandHandler = async (context) => {
  const http = httpOf(context.flags.http);
  if (http !== undefined) process.env[HTTP_VARIABLE] = http;
  // Node marks inherited descriptors 3 to 15 close-on-exec, like its own, so that it cannot tell them apart; the daemon closes
  // higher ones itself (`daemon/inherited`).
  beginAnew(DAEMON_NODE_FLAGS);
  const running = await context.connect().catch(() => undefined);
  if (running !== undefined) {
    const { pid, version } = await running.request("daemon/status", {});
    throw new HoldfastError(
      "LOCK_HELD",
      `A daemon runs for ${context.stateDir} already: pid ${pid}, version ${version}.`,
      {
        suggestion: "Use it, stop it with agent daemon stop, or choose another HOLDFAST_HOME.",
      },
    );
  }
  process.once("exit", (exit) => context.finish(endOf(exit)));
  process.argv.splice(1, process.argv.length, DAEMON_PROGRAM, "--state-dir", context.stateDir);
  await import(pathToFileURL(DAEMON_PROGRAM).href);
  return new Promise(() => {});
};

const endOf = (exit: number): CommandResult =>
  exit === 0
    ? success(null)
    : {
        ...failure(
          new HoldfastError("INTERNAL", `The daemon ended with exit code ${exit}.`, {
            suggestion: "Its log on stderr says why.",
          }),
        ),
        exit,
      };

export const isDown = (cause: unknown): boolean =>
  cause instanceof HoldfastError && cause.code === "SUPERVISOR_DOWN";

/** Another process holds the state directory but does not answer. */
export const isHeld = (cause: unknown): boolean =>
  cause instanceof HoldfastError && cause.info.details?.held_by !== undefined;

export const start: CommandHandler = async (context) => {
  const done = context.progress("starting the daemon");
  try {
    const wasRunning = await context.connect().then(
      () => true,
      (cause) => {
        if (isDown(cause)) return false;
        throw cause;
      },
    );
    const before = wasRunning ? readDaemonFile(context.stateDir)?.pid : undefined;
    const http = httpOf(context.flags.http);
    if (http !== undefined && !wasRunning) await startServing(context, http);
    const status = await nextStatus(context);
    if (http !== undefined) {
      servedUrl(status);
      context.hint("Open the dashboard: agent dashboard", "after");
    }
    await tellConfiguration(context);
    return success({ ...status, effect: status.pid === before ? "noop" : "created" });
  } finally {
    done();
  }
};

/** The flag with or without a value: `[HOST:]PORT`. */
const httpOf = (flag: unknown): string | undefined =>
  flag === undefined ? undefined : typeof flag === "string" ? flag : String(API_PORT_DEFAULT);

export const httpProblems = ({ flags: { http } }: Call): readonly string[] =>
  typeof http === "string" && parseAddress(http) === undefined
    ? [`--http takes [HOST:]PORT with an IP address, not "${http}"`]
    : [];

/** The daemon gets the address by its environment, and an upgrade hands it on. */
const startServing = async ({ stateDir, env }: Context, http: string): Promise<void> => {
  const socket = await connectDaemon({
    stateDir,
    env: { ...env, [HTTP_VARIABLE]: http },
    bundle: DAEMON_PROGRAM,
  });
  socket.destroy();
};

/** Fails with INVALID_STATE or UNAVAILABLE if HTTP is not served now. */
export const servedUrl = ({ http, pid }: Replies["daemon/status"]): string => {
  if (http?.url) return http.url;
  throw http?.trouble
    ? new HoldfastError("UNAVAILABLE", `The daemon runs, pid ${pid}. ${http.trouble}`, {
        suggestion: "End the program that has the port, and the daemon listens by itself.",
      })
    : new HoldfastError("INVALID_STATE", `The daemon runs already, pid ${pid}, without HTTP.`, {
        suggestion: "agent daemon stop --keep-agents && agent daemon start --http; agents keep running.",
      });
};

/** The status of the next daemon. A stopping daemon still accepts connections, so the next one is started after it is gone. */
const nextStatus = async (context: Context): Promise<Replies["daemon/status"]> => {
  const deadline = performance.now() + DAEMON_START_WAIT_MS;
  for (;;) {
    const client = await context.connect({ start: true });
    try {
      return await client.request("daemon/status", {});
    } catch (cause) {
      if (asHoldfastError(cause).code !== "UNAVAILABLE" || performance.now() > deadline) throw cause;
      client.close();
      await sleep(DAEMON_START_POLL_MS);
    }
  }
};

export const stopProblems = ({ flags }: Call): readonly string[] =>
  flags["keep-agents"] && flags["kill-agents"]
    ? ["agent daemon stop takes --keep-agents or --kill-agents, not both"]
    : [];

export const stop: CommandHandler = async (context) => {
  const { flags } = context;
  const agents = flags["keep-agents"] ? "keep" : flags["kill-agents"] ? "kill" : "refuse";
  if (!flags["dry-run"])
    context.onInterrupt = { sentence: "The daemon continues to stop. See: agent daemon status" };
  let soFar = (): string => "";
  const done = context.progress("stopping the daemon", () => soFar());
  try {
    const client = await context.connect();
    if (agents === "kill" && !flags["dry-run"]) soFar = await countEnds(context, client);
    if (flags["dry-run"]) {
      const { live } = (await client.request("daemon/status", {})).workers;
      return success({ agents, live, effect: "would_delete" });
    }
    const holder = readDaemonFile(context.stateDir);
    const reply = await client.request("daemon/stop", { agents });
    if (holder !== undefined) await untilGone(holder);
    return success({ ...reply, effect: "deleted" });
  } catch (cause) {
    if (isDown(cause) && !isHeld(cause)) return success({ agents, live: 0, effect: "noop" });
    throw cause;
  } finally {
    done();
  }
};

/** The daemon answers shortly before it ends, so this waits: a start right afterwards must not meet it. */
const untilGone = async (holder: DaemonFile): Promise<void> => {
  const deadline = performance.now() + DAEMON_GONE_WAIT_MS;
  while (isHolderAlive(holder) && performance.now() < deadline) await sleep(DAEMON_START_POLL_MS);
};

export const status: CommandHandler = async (context) => {
  const outcome = await statusInTime(await context.connect(), context.stateDir);
  if (!outcome.ok || outcome.value.health?.ok !== false) return outcome;
  const { tick_age_ms } = outcome.value.health;
  return {
    ok: false,
    value: outcome.value,
    error: new HoldfastError(
      "DAEMON_UNHEALTHY",
      `The supervisor's tick has stopped for ${Math.round(tick_age_ms / 1000)} s: stuck agents are not noticed.`,
      { details: { tick_age_ms } },
    ),
  };
};
