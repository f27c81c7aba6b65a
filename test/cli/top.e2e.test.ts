/** `agent top` in a real pseudo-terminal, its bytes read by a terminal emulator. */
import { type ChildProcess, spawn } from "node:child_process";
import { Terminal } from "@xterm/headless";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { AGENT, CACHE } from "../support/built.ts";
import { type Commands, makeCommands } from "./support/commands.ts";

const COLUMNS = 60;
const ROWS = 16;

let commands: Commands;
beforeAll(async () => {
  commands = makeCommands();
  await commands.agent("spawn", "--name", "talker", "--", "sh", "-c", "echo hello from here; sleep 1000");
  await commands.agent("spawn", "--name", "victim", "--", "sleep", "1000");
});
afterAll(() => commands.close());

/** The command on a screen, with everything that it wrote. */
class Screen {
  readonly child: ChildProcess;
  private readonly terminal = new Terminal({ cols: COLUMNS, rows: ROWS, allowProposedApi: true });
  private written = 0;
  readonly ended: Promise<number | null>;

  constructor(home: string, ...argv: readonly string[]) {
    const words = [process.execPath, AGENT, ...argv].map((word) => `'${word}'`).join(" ");
    const line = `stty rows ${ROWS} cols ${COLUMNS}; exec ${words}`;
    this.child = spawn("script", ["-qefc", line, "/dev/null"], {
      env: { PATH: process.env.PATH, TERM: "xterm-256color", ...CACHE, HOLDFAST_HOME: home, TZ: "UTC" },
      stdio: ["pipe", "pipe", "inherit"],
    });
    this.child.stdout!.on("data", (bytes: Buffer) => {
      this.written += bytes.length;
      this.terminal.write(bytes);
    });
    this.ended = new Promise((resolve) => this.child.on("close", resolve));
  }

  bytes(): number {
    return this.written;
  }

  get isAlternate(): boolean {
    return this.terminal.buffer.active.type === "alternate";
  }

  text(): string {
    const { active } = this.terminal.buffer;
    const lines = Array.from({ length: ROWS }, (_, at) => active.getLine(at)?.translateToString(true) ?? "");
    return lines.join("\n");
  }

  press(keys: string): void {
    this.child.stdin!.write(keys);
  }

  async shows(wanted: RegExp): Promise<void> {
    for (;;) {
      // The emulator reads in its own time.
      await new Promise<void>((resolve) => this.terminal.write("", resolve));
      if (wanted.test(this.text())) return;
      if (this.child.exitCode !== null) throw new Error(`It ended without ${wanted}:\n${this.text()}`);
      await new Promise((resolve) => this.child.stdout!.once("data", resolve));
    }
  }
}

describe("agent top", () => {
  it("shows the workers live, acts on them by keys, and gives the screen back", async () => {
    const screen = new Screen(commands.home, "top");
    await screen.shows(/Nothing waits for you · 2 of 2 workers run/);
    await screen.shows(/talker +running/);
    screen.press("/vict\r");
    await screen.shows(/▸ victim/);
    screen.press("k");
    await screen.shows(/Kill victim\? y: yes/);
    screen.press("y");
    await screen.shows(/agent kill victim/);
    expect((await commands.agent("info", "victim")).data.status).toBe("cancelled");
    screen.press("/\x7f\x7f\x7f\x7f\r");
    await screen.shows(/▸ talker/);
    screen.press("l");
    await screen.shows(/hello from here/);
    screen.press("q");
    await screen.shows(/NAME +STATE/);
    await commands.agent("spawn", "--name", "late", "--", "sleep", "1000");
    await screen.shows(/late +running/);
    screen.press("q");
    expect(await screen.ended).toBe(0);
    expect(screen.isAlternate).toBe(false);
  });

  it("waits for the next daemon, and goes on with it", async () => {
    const screen = new Screen(commands.home, "top");
    await screen.shows(/talker +running/);
    process.kill(await commands.daemonPid(), "SIGKILL");
    await screen.shows(/Waiting for the next\./);
    await commands.agent("daemon", "start");
    await screen.shows(/a answer k kill/);
    await screen.shows(/talker +running/);
    screen.press("\x03");
    expect(await screen.ended).toBe(0);
    expect(screen.isAlternate).toBe(false);
  });

  it("writes nothing while nothing happens", async () => {
    const screen = new Screen(commands.home, "top");
    await screen.shows(/ 0% cpu/);
    await screen.shows(/talker +running/);
    // The share of a processor is known from the second sample on.
    const counts: number[] = [];
    while (counts.length < 2 || counts.at(-1) !== counts.at(-2)) {
      counts.push(screen.bytes());
      await commands.agent("daemon", "status");
      await commands.agent("daemon", "status");
    }
    screen.press("q");
    expect(await screen.ended).toBe(0);
  });

  it("without a terminal names the command for scripts", async () => {
    const { exit, stderr } = await commands.text("top");
    expect(exit).toBe(3);
    expect(stderr).toContain("agent top needs a terminal.");
    expect(stderr).toContain("agent list --wide -o json");
  });
});
