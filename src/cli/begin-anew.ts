/** Executes this program once more, with the same pid. */
import { BEGUN_ANEW_VARIABLE } from "../base/environment.ts";

/** With `flags` of Node. The second time it returns, and so it does where a process cannot become another. */
export const beginAnew = (flags: readonly string[]): void => {
  const { argv, env, execArgv, execPath } = process;
  if (env[BEGUN_ANEW_VARIABLE] === undefined && process.platform === "linux")
    process.execve?.(execPath, [execPath, ...flags, ...execArgv, ...argv.slice(1)], {
      ...env,
      [BEGUN_ANEW_VARIABLE]: "1",
    });
  delete env[BEGUN_ANEW_VARIABLE];
};
