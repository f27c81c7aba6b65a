/** Runs a daemon as this process: its signals, its uncaught errors, its exit code. */
import { constants, homedir } from "node:os";
import { Cause, Effect, Exit } from "effect";
import { makeDefects } from "../actors/defects.ts";
import { asHoldfastError } from "../protocol/errors.ts";
import { makeLog, textOf } from "./log.ts";
import { logOutput } from "./log-output.ts";
import { type DaemonOptions, runDaemon } from "./main.ts";

/**
 * Runs in the foreground until the daemon has stopped; then exits with 0 or the error's own exit code. The
 * first TERM, INT or HUP stops the daemon and keeps its agents; a second one ends it at once.
 */
export const runDaemonProcess = async (
  options: Pick<DaemonOptions, "stateDir" | "version" | "openRuntime" | "takeOver">,
): Promise<never> => {
  const output = logOutput(process.stderr);
  const log = makeLog(output.write, process.stderr.isTTY !== true, () => new Date());
  const defects = makeDefects((message, cause) => log("error", message, { cause: textOf(cause) }));
  // A throw in a callback is a defect of that callback, and the agents of a hundred others depend on this
  // process (promise R36, docs/decisions/0018). Unhandled rejections come here too.
  process.on("uncaughtException", (cause, origin) => defects.tell(origin, cause));

  const { promise, resolve } = Promise.withResolvers<string>();
  let signalled = false;
  // Installed first, so that a daemon that is stopped during its boot ends in order too.
  for (const name of ["SIGTERM", "SIGINT", "SIGHUP"] as const) {
    process.on(name, () => {
      if (signalled) process.exit(128 + constants.signals[name]);
      signalled = true;
      log("info", "stopping; agents keep running", { signal: name });
      resolve(name);
    });
  }
  const exit = await Effect.runPromiseExit(
    runDaemon({
      ...options,
      env: process.env,
      home: homedir(),
      log,
      output,
      defects,
      signalled: Effect.promise(() => promise),
    }),
  );
  if (Exit.isSuccess(exit)) process.exit(0);
  const error = asHoldfastError(Cause.squash(exit.cause));
  log("error", error.message, { code: error.code, next: error.suggestion });
  process.exit(error.row.exit);
};
