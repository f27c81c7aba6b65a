/** runit of the machine: a directory for each service, and `runsvdir` over them. Its start is that of runsvdir. */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { childrenOf } from "../inspect.ts";
import { minimalEnvironment, type Peer, untilGone } from "./peer.ts";

export const runit: Peer = {
  name: "runit",
  install: "apt-get install runit",
  isHere: () => spawnSync("sh", ["-c", "command -v runsvdir && command -v sv"]).status === 0,
  open: async (dir) => {
    const env = minimalEnvironment(dir);
    const services = join(dir, "services");
    mkdirSync(services);
    let daemon: ChildProcess | undefined;
    return {
      pid: () => daemon?.pid as number,
      prepare: async (argv, count) => {
        for (let n = 0; n < count; n += 1) {
          const service = join(services, `sleeper-${n}`);
          if (!existsSync(service)) mkdirSync(service);
          writeFileSync(join(service, "run"), `#!/bin/sh\nexec ${argv.join(" ")}\n`, { mode: 0o755 });
        }
        return async () => {
          daemon = spawn("runsvdir", [services], { env, stdio: "ignore", detached: true });
        };
      },
      status: { argv: ["sh", "-c", `exec sv status ${services}/*`], env },
      stop: async () => {
        if (daemon?.pid === undefined) return;
        const supervisors = childrenOf(daemon.pid);
        daemon.kill("SIGHUP");
        await untilGone([daemon.pid, ...supervisors]);
      },
    };
  },
};
