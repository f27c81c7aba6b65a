/** agent daemon … and agent db …: the daemon itself, and its log. */
import { pathToFileURL } from "node:url";
import { HoldfastError } from "../../protocol/errors.ts";
import { success } from "../../protocol/outcome.ts";
import type { Handler } from "../context.ts";
import { DAEMON_PROGRAM } from "../package.ts";
import type { Call } from "../parse.ts";

/** This process becomes the daemon: it takes over signals, output and exit code, and never returns. */
export const run: Handler = async (context) => {
  process.argv.splice(1, process.argv.length, DAEMON_PROGRAM, "--state-dir", context.stateDir);
  await import(pathToFileURL(DAEMON_PROGRAM).href);
  return new Promise(() => {});
};

const isDown = (cause: unknown): boolean =>
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
    ? ["daemon stop takes --keep-agents or --kill-agents, not both"]
    : [];

export const stop: Handler = async (context) => {
  const { flags } = context;
  const agents = flags["keep-agents"] ? "keep" : flags["kill-agents"] ? "kill" : "refuse";
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

export const status: Handler = async (context) =>
  success(await (await context.connect()).request("daemon/status", {}));

export const check: Handler = async (context) => {
  const done = context.progress("checking the log");
  const report = await (await context.connect()).request("db/check", {}).finally(done);
  if (report.ok) return success(report);
  const found = report.findings.length;
  return {
    ok: false,
    value: report,
    error: new HoldfastError(
      "STORE_CORRUPT",
      `The log has ${found} ${found === 1 ? "finding" : "findings"}: ${report.findings.slice(0, 3).join("; ")}`,
      { details: { ...report } },
    ),
  };
};

export const rebuild: Handler = async (context) => {
  const done = context.progress("folding the log");
  return success(await (await context.connect()).request("db/rebuild", {}).finally(done));
};
