/** supervisord of the machine: one program of as many processes, taken in by `supervisorctl update`. */
import { spawn, spawnSync } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Command, minimalEnvironment, type Peer, run, untilGone } from "./peer.ts";

export const supervisord: Peer = {
  name: "supervisord",
  install: "apt-get install supervisor",
  isHere: () => spawnSync("supervisord", ["--version"]).status === 0,
  open: async (dir) => {
    const env = minimalEnvironment(dir);
    const file = join(dir, "supervisord.conf");
    const socket = join(dir, "supervisor.sock");
    const base = `[supervisord]
nodaemon=true
minfds=16384
minprocs=4096
logfile=${dir}/supervisord.log
pidfile=${dir}/supervisord.pid
childlogdir=${dir}
${process.getuid?.() === 0 ? "user=root" : ""}
[unix_http_server]
file=${socket}
[rpcinterface:supervisor]
supervisor.rpcinterface_factory=supervisor.rpcinterface:make_main_rpcinterface
[supervisorctl]
serverurl=unix://${socket}
`;
    writeFileSync(file, base);
    const daemon = spawn("supervisord", ["-c", file], { env, stdio: "ignore", detached: true });
    const command = (...args: string[]): Command => ({ argv: ["supervisorctl", "-c", file, ...args], env });
    while (!existsSync(socket)) await sleep(20);
    return {
      pid: () => daemon.pid as number,
      prepare: async (argv, count) => {
        const program = `[program:sleeper]
command=${argv.join(" ")}
numprocs=${count}
process_name=%(process_num)d
startsecs=0
autorestart=true
`;
        writeFileSync(file, `${base}${program}`);
        return async () => void (await run(command("update")));
      },
      status: command("status"),
      stop: async () => {
        daemon.kill("SIGTERM");
        await untilGone([daemon.pid as number]);
      },
    };
  },
};
