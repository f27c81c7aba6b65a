import { execFileSync } from "node:child_process";
import { rmSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { LineReader } from "../../../src/actors/intake/line-reader.ts";
import { isAlive } from "../../../src/adapters/process/identity.ts";
import { LINE_MAX_BYTES } from "../../../src/base/limits.ts";
import { child, makeBench, printed, temporaryDirectory, until } from "./support.ts";

const UNKNOWN = {
  exit_code: null,
  signal: null,
  signal_inferred: false,
  raw_status: null,
  reason: "unknown",
};

describe("an exit is told exactly once", () => {
  test("when the launcher alone was killed: the agent lives on, and its end is unknown", async () => {
    const { launch } = makeBench();
    const run = await launch(["sleep", "1000"]);
    let told = 0;
    void run.exited.then(() => {
      told += 1;
    });
    process.kill(run.launcher.pid, "SIGKILL");
    await until(() => !isAlive(run.launcher), "the launcher is dead");
    expect(run.process()).toBe("running");
    expect(told).toBe(0);
    process.kill(run.agent.pid, "SIGKILL");
    expect(await run.exited).toEqual(UNKNOWN);
  });

  test("when the whole group was killed", async () => {
    const { launch } = makeBench();
    const run = await launch(["sleep", "1000"]);
    process.kill(-run.pgid, "SIGKILL");
    expect(await run.exited).toEqual(UNKNOWN);
  });

  test("when the run directory was removed under it", async () => {
    const { launch, runsDir } = makeBench();
    const run = await launch(["sleep", "1000"]);
    rmSync(runsDir, { recursive: true });
    process.kill(run.agent.pid, "SIGTERM");
    // The launcher cannot write the status; as our own child it still ends with it.
    expect(await run.exited).toMatchObject({ raw_status: 143, reason: "signalled" });
  });

  test("when the launcher is stopped and never comes to write it", async () => {
    const { launch } = makeBench();
    const run = await launch(["sleep", "1000"]);
    process.kill(run.launcher.pid, "SIGSTOP");
    await run.kill();
    expect(await run.exited).toMatchObject({ reason: "unknown" });
  });

  test("when this process is out of descriptors: late, and as it was", () => {
    const script = fileURLToPath(new URL("out-of-descriptors.ts", import.meta.url));
    const printed = execFileSync("sh", [
      "-c",
      'ulimit -n 80; exec "$@"',
      "sh",
      process.execPath,
      script,
      temporaryDirectory(),
    ]);
    expect(JSON.parse(printed.toString())).toEqual({
      refused: "UNAVAILABLE",
      killed: [],
      toldWhileBlind: 0,
      exit: {
        exit_code: 137,
        signal: "SIGKILL",
        signal_inferred: true,
        raw_status: 137,
        reason: "signalled",
      },
    });
  });

  test.each<[string, string[], string | null, number]>([
    ["exits.sh", ["0"], null, 0],
    ["exits.sh", ["3"], null, 3],
    ["kills-itself.sh", ["KILL"], "SIGKILL", 137],
    ["kills-itself.sh", ["SEGV"], "SIGSEGV", 139],
  ])("of %s %s", async (name, args, signal, raw_status) => {
    const { launch } = makeBench();
    const run = await launch([child(name), ...args]);
    expect(await run.exited).toMatchObject({ raw_status, signal, signal_inferred: signal !== null });
  });
});

describe("output", () => {
  test("is told of as it grows, and once more at the exit", async () => {
    const { launch } = makeBench();
    const run = await launch(["sh", "-c", "while read -r line; do echo $line; done"], {
      stdin: { kind: "open", text: "" },
    });
    const sizes: number[] = [];
    run.onOutput(() => sizes.push(printed(run).length));
    await run.write("a\n");
    await until(() => sizes.includes(2), "the first line is told of");
    await run.write("b\n");
    await until(() => sizes.includes(4), "the second line is told of");
    const before = sizes.length;
    await run.closeStdin();
    await run.exited;
    expect(sizes.length).toBeGreaterThan(before);
    run.dispose();
  });

  test("of a flood is all there, and its last line needs no end", async () => {
    const { launch } = makeBench();
    const lines = (run: Awaited<ReturnType<typeof launch>>) => {
      const reader = new LineReader({ source: run.source("stdout"), offset: 0, skipped_bytes: 0 });
      let count = 0;
      for (let more = true; more; ) {
        const batch = reader.read(Number.MAX_SAFE_INTEGER);
        count += batch.pieces.length;
        more = batch.more;
      }
      return [count, reader.finish()] as const;
    };
    const flood = await launch([child("floods.sh"), "300000"]);
    await flood.exited;
    expect(lines(flood)).toEqual([300_000, undefined]);
    const torn = await launch([child("no-final-newline.sh")]);
    await torn.exited;
    expect(lines(torn)).toEqual([1, { kind: "text", text: "two", end: "" }]);
    const bytes = LINE_MAX_BYTES + 3 * 1024 * 1024;
    const endless = await launch([child("no-newline.sh"), String(bytes)]);
    await endless.exited;
    expect(lines(endless)).toEqual([1, { kind: "end_of_long", bytes, limit_bytes: LINE_MAX_BYTES }]);
  });

  test("an agent that closes its stdio is as alive as any other", async () => {
    const { launch } = makeBench();
    const run = await launch([child("closes-stdio.sh")]);
    expect(run.process()).toBe("running");
    await run.signal("SIGTERM");
    expect(await run.exited).toMatchObject({ signal: "SIGTERM" });
  });

  test("its tail is there for a classifier", async () => {
    const { launch } = makeBench();
    const run = await launch(["sh", "-c", "echo 0123456789 >&2"]);
    await run.exited;
    expect(await run.source("stderr").tail(4)).toBe("789\n");
    expect(await run.source("stdout").tail(4)).toBe("");
  });
});

test("everything is seen on a timer if the machine gives no file events (inotify), and that is told", async () => {
  const bench = makeBench({
    watchFiles: () => {
      throw Object.assign(new Error("no watches left"), { code: "ENOSPC" });
    },
  });
  const run = await bench.launch([child("echoes.sh")], { stdin: { kind: "open", text: "one\n" } });
  expect(bench.spawner.posix.polled()).toBe(1);
  const seen = new Promise<void>((resolve) => {
    run.onOutput(() => {
      if (printed(run).includes("got two\n")) resolve();
    });
  });
  await run.write("two\n");
  await seen;
  await run.closeStdin();
  expect(await run.exited).toMatchObject({ exit_code: 0 });
});
