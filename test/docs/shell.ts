/** A new user's shell: an empty HOME, a repository with a commit, the built `agent`, and a `claude` that does its work. */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { AGENT, CACHE } from "../support/built.ts";
import { root } from "./pages.ts";

const COMMAND_MAX_MS = 60_000;
const CLAUDE = join(root, "test/fixtures/agents/works.mjs");

export interface Ran {
  readonly exit: number;
  readonly output: string;
}

export class Shell {
  readonly cwd: string;
  readonly stateDir: string;
  private readonly dir = mkdtempSync(join(tmpdir(), "holdfast-docs-"));
  private readonly bash: ChildProcess;
  private heard = "";
  private wake = (): void => {};

  constructor() {
    this.cwd = join(this.dir, "repo");
    this.stateDir = join(this.dir, "home/.local/state/holdfast");
    const [home, bin] = [join(this.dir, "home"), join(this.dir, "bin")];
    for (const each of [home, bin, this.cwd]) mkdirSync(each);
    symlinkSync(AGENT, join(bin, "agent"));
    symlinkSync(CLAUDE, join(bin, "claude"));
    symlinkSync("/bin/true", join(bin, "make"));
    const path = `${bin}:${dirname(process.execPath)}:/usr/local/bin:/usr/bin:/bin`;
    const env = { ...CACHE, HOME: home, PATH: path, HOLDFAST_OUTPUT: "text", LANG: "C.UTF-8", TERM: "dumb" };
    this.bash = spawn("bash", ["--noprofile", "--norc"], {
      cwd: this.cwd,
      env,
      stdio: ["pipe", "pipe", "pipe"],
    });
    for (const stream of [this.bash.stdout!, this.bash.stderr!])
      stream.setEncoding("utf8").on("data", (text: string) => {
        this.heard += text;
        this.wake();
      });
    const author = ["-c", "user.name=New User", "-c", "user.email=new@example.org"];
    for (const argv of [
      ["init", "-q", "-b", "main"],
      ["config", "user.name", "New User"],
      ["config", "user.email", "new@example.org"],
      [...author, "commit", "-q", "--allow-empty", "-m", "Begin"],
    ])
      spawnSync("git", argv, { cwd: this.cwd });
  }

  async run(command: string): Promise<Ran> {
    this.heard = "";
    // The last line goes to both streams, so that neither has anything left.
    const done = /\n\u0001(\d+)\u0001\n/;
    this.bash.stdin!.write(`{ ${command}\n} </dev/null 2>&1; printf '\\n\\001%d\\001\\n' $?\n`);
    const deadline = performance.now() + COMMAND_MAX_MS;
    while (!done.test(this.heard)) {
      const left = deadline - performance.now();
      if (left <= 0) throw new Error(`not within ${COMMAND_MAX_MS} ms: ${command}\n${this.heard}`);
      await new Promise<void>((go) => {
        this.wake = go;
        setTimeout(go, left);
      });
    }
    const exit = Number(done.exec(this.heard)?.[1]);
    return { exit, output: this.heard.replace(done, "") };
  }

  /** Also of a shell that hangs. */
  close(): void {
    this.bash.kill("SIGKILL");
    // The usual state directory, and the one of a job.
    for (const stateDir of [this.stateDir, join(this.cwd, ".holdfast")])
      if (existsSync(stateDir))
        spawnSync(AGENT, ["daemon", "stop", "--kill-agents", "--state-dir", stateDir]);
    rmSync(this.dir, { recursive: true, force: true });
  }
}
