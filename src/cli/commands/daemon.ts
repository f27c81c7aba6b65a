/** agent daemon …: the daemon itself. */
import { pathToFileURL } from "node:url";
import { HoldfastError } from "../../protocol/errors.ts";
import { failure, success } from "../../protocol/outcome.ts";
import type { Handler, Result } from "../context.ts";
import { DAEMON_PROGRAM } from "../package.ts";
import type { Call } from "../parse.ts";
import { statusInTime } from "../silence.ts";

/** This process becomes the daemon: it takes over signals, stderr and exit code, and never returns. */
export const run: Handler = async (context) => {
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

const endOf = (exit: number): Result =>
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

export const start: Handler = async (context) => {
  const done = context.progress("starting the daemon");
  try {
    const wasRunning = await context.connect().then(
      () => true,
      (cause) => {
        if (isDown(cause)) return false;
        throw cause;
      },
    );
    const status = await (await context.connect({ start: true })).request("daemon/status", {});
    return success({ ...status, effect: wasRunning ? "noop" : "created" });
  } finally {
    done();
  }
};

export const stopProblems = ({ flags }: Call): readonly string[] =>
  flags["keep-agents"] && flags["kill-agents"]
    ? ["agent daemon stop takes --keep-agents or --kill-agents, not both"]
    : [];

export const stop: Handler = async (context) => {
  const { flags } = context;
  const agents = flags["keep-agents"] ? "keep" : flags["kill-agents"] ? "kill" : "refuse";
  context.onInterrupt = { sentence: "The daemon goes on stopping. See: agent daemon status" };
  const done = context.progress("stopping the daemon");
  try {
    const reply = await (await context.connect()).request("daemon/stop", { agents });
    return success({ ...reply, effect: "deleted" });
  } catch (cause) {
    if (isDown(cause)) return success({ agents, live: 0, effect: "noop" });
    throw cause;
  } finally {
    done();
  }
};

export const status: Handler = async (context) => {
  const outcome = await statusInTime(await context.connect(), context.stateDir);
  if (!outcome.ok || outcome.value.health?.ok !== false) return outcome;
  const { tick_age_ms } = outcome.value.health;
  return {
    ok: false,
    value: outcome.value,
    error: new HoldfastError(
      "DAEMON_UNHEALTHY",
      `The supervisor's tick has stopped for ${Math.round(tick_age_ms / 1000)} s: nobody looks whether agents are stuck.`,
      { details: { tick_age_ms } },
    ),
  };
};
