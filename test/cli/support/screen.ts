/** The `agent` command in a real pseudo-terminal, its bytes read by a terminal emulator. */
import { type ChildProcess, spawn } from "node:child_process";
import { Terminal } from "@xterm/headless";
import { AGENT, CACHE } from "../../support/built.ts";

const COLUMNS = 60;
const ROWS = 16;

/** The command on a screen, with everything that it wrote. */
export class Screen {
  readonly child: ChildProcess;
  private readonly terminal = new Terminal({ cols: COLUMNS, rows: ROWS, allowProposedApi: true });
  private written = 0;
  /** Its exit code, once the emulator has read all of its output. */
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
    // The emulator reads in its own time, also what came last.
    this.ended = new Promise((resolve) =>
      this.child.on("close", (code) => this.terminal.write("", () => resolve(code))),
    );
  }

  bytes(): number {
    return this.written;
  }

  get isAlternate(): boolean {
    return this.terminal.buffer.active.type === "alternate";
  }

  text(): string {
    const { active } = this.terminal.buffer;
    const lines = Array.from(
      { length: ROWS },
      (_, at) => active.getLine(active.baseY + at)?.translateToString(true) ?? "",
    );
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
