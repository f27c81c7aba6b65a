import { execFileSync, spawnSync } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { isAlive, readStat } from "../../../src/adapters/process/identity.ts";
import { launcherArguments, SHELL } from "../../../src/adapters/process/launcher.ts";
import { ARG_MAX_BYTES, ARGV_MAX_BYTES } from "../../../src/base/limits.ts";
import { child, makeBench, printed, temporaryDirectory, until } from "./support.ts";

describe("a launch", () => {
  test("tells the agent's own pid, in the group and session of its launcher", async () => {
    const { launch } = makeBench();
    const run = await launch(["sleep", "1000"]);
    expect(readFileSync(`/proc/${run.agent.pid}/cmdline`, "latin1")).toBe("sleep\0" + "1000\0");
    const agent = readStat(run.agent.pid)!;
    expect(agent).toMatchObject({
      ppid: run.launcher.pid,
      pgrp: run.pgid,
      session: run.launcher.pid,
      start_time: run.agent.start_time,
    });
    expect(run.pgid).toBe(run.launcher.pid);
    expect(isAlive(run.launcher)).toBe(true);
    expect(run.process()).toBe("running");
  });

  test("gives the agent default signal actions", async () => {
    const { launch } = makeBench();
    const run = await launch(["grep", "-E", "^Sig(Blk|Ign)", "/proc/self/status"]);
    await run.exited;
    expect(printed(run)).toMatch(/^SigBlk:\s+0+\nSigIgn:\s+0+\n$/);
  });

  test("gives the agent its environment and the marker, and nothing of the daemon's", async () => {
    const { launch, storeId, dir } = makeBench();
    const run = await launch(["env"], { env: { PATH: "/usr/bin:/bin", ONLY: "this" } });
    await run.exited;
    // PWD is the shell's own, and true.
    const expected = [`HOLDFAST_RUN=${storeId}/W/1`, "ONLY=this", "PATH=/usr/bin:/bin", `PWD=${dir}`];
    expect(printed(run).trimEnd().split("\n").sort()).toEqual(expected);
  });

  test("hands argv on as it is: no word of it is ever shell text", async () => {
    const { launch } = makeBench();
    const words = ["$(touch x)", "`id`", "a b", "", "*", "'\"\\", "\n", "-n", "--", "ü\u2028"];
    const run = await launch([
      process.execPath,
      "-e",
      "process.stdout.write(JSON.stringify(process.argv.slice(1)))",
      "--",
      ...words,
    ]);
    await run.exited;
    expect(JSON.parse(printed(run))).toEqual(words);
  });

  test("keeps directory and files from other users", async () => {
    const { launch, runsDir } = makeBench();
    const run = await launch(["true"], { stdin: { kind: "text", text: "secret" } });
    await run.exited;
    const dir = join(runsDir, "W", "1");
    expect(statSync(dir).mode & 0o777).toBe(0o700);
    const files = readdirSync(dir);
    expect(files.sort()).toEqual(["claimed", "exit", "pid", "run.json", "stderr", "stdin", "stdout"]);
    for (const file of files) expect([file, statSync(join(dir, file)).mode & 0o777]).toEqual([file, 0o600]);
  });

  test("leaves the agent its umask", async () => {
    const { launch } = makeBench();
    const run = await launch(["sh", "-c", "umask"]);
    await run.exited;
    expect(Number.parseInt(printed(run), 8)).toBe(process.umask());
  });

  test("a hundred at once each get exactly one exit, their own", async () => {
    const { launch } = makeBench();
    const runs = await Promise.all(
      Array.from({ length: 100 }, (_, n) => launch([child("exits.sh"), String(n)], { worker_id: `W${n}` })),
    );
    const exits = await Promise.all(runs.map((run) => run.exited));
    expect(exits.map((exit) => exit.exit_code)).toEqual(Array.from({ length: 100 }, (_, n) => n));
  }, 120_000);

  test("a second launch of one incarnation is refused", async () => {
    const { launch } = makeBench();
    await launch(["true"], { incarnation: 1 });
    await expect(launch(["true"], { incarnation: 1 })).rejects.toMatchObject({ code: "INVALID_STATE" });
  });

  test.each([
    ["empty", (path: string) => writeFileSync(path, "")],
    ["not there", () => undefined],
    ["forged", (path: string) => writeFileSync(path, "0\n")],
    ["a link", (path: string) => symlinkSync("elsewhere", path)],
    ["a pipe", (path: string) => void execFileSync("mkfifo", [path])],
  ])("the exit is told where its file is %s", (_how, put) => {
    const run = temporaryDirectory();
    put(join(run, "exit"));
    writeFileSync(join(run, "pid"), "");
    const { status } = spawnSync(SHELL, launcherArguments(run, "empty", "0022", ["sh", "-c", "exit 7"]));
    expect([status, lstatSync(join(run, "exit")).isFile()]).toEqual([0, true]);
    expect(readFileSync(join(run, "exit"), "utf8")).toBe("7\n");
    expect(readFileSync(join(run, "pid"), "utf8")).toMatch(/^\d+ \d+\n$/);
    expect(readdirSync(run).sort()).toEqual(["claimed", "exit", "pid"]);
  });

  test("a launcher that finds its run claimed by a reconcile runs nothing", async () => {
    const { spawner, runsDir, dir } = makeBench();
    const run = join(runsDir, "W", "1");
    mkdirSync(run, { recursive: true });
    expect(await spawner.observe({ worker_id: "W", incarnation: 1 })).toEqual({ kind: "never_started" });
    expect(() =>
      execFileSync(SHELL, launcherArguments(run, "empty", "0022", ["touch", join(dir, "ran")])),
    ).toThrow();
    expect(readdirSync(run)).toEqual(["claimed"]);
    expect(readdirSync(dir)).not.toContain("ran");
  });
});

/** The first program of a line does not matter; the launched one does. */
const having = <T>(_made: unknown, request: T): T => request;

describe("a launch that cannot be", () => {
  const refused: [
    string,
    (dir: string) => { argv: string[]; cwd?: string; env?: Record<string, string> },
    string,
  ][] = [
    ["a program that is nowhere on the PATH", () => ({ argv: ["no-such-program-here"] }), "BINARY_NOT_FOUND"],
    ["a path that does not exist", () => ({ argv: ["./nope"] }), "BINARY_NOT_FOUND"],
    [
      "a link to nothing",
      (dir) => having(symlinkSync("nowhere", join(dir, "link")), { argv: ["./link"] }),
      "BINARY_NOT_FOUND",
    ],
    [
      "a file that is not executable",
      (dir) => having(writeFileSync(join(dir, "plain"), "x", { mode: 0o644 }), { argv: ["./plain"] }),
      "BINARY_NOT_EXECUTABLE",
    ],
    ["a directory", (dir) => ({ argv: [dir] }), "BINARY_NOT_EXECUTABLE"],
    [
      "a script whose interpreter is missing",
      (dir) =>
        having(writeFileSync(join(dir, "bad"), "#!/no/such/sh\n", { mode: 0o755 }), { argv: ["./bad"] }),
      "EXEC_FAILED",
    ],
    ["a cwd that does not exist", (dir) => ({ argv: ["true"], cwd: join(dir, "nope") }), "CWD_NOT_FOUND"],
    [
      "a cwd that is a file",
      (dir) => having(writeFileSync(join(dir, "file"), ""), { argv: ["true"], cwd: join(dir, "file") }),
      "CWD_NOT_FOUND",
    ],
    [
      "an argument that is too long",
      () => ({ argv: ["true", "x".repeat(ARG_MAX_BYTES)] }),
      "ARGUMENTS_TOO_LONG",
    ],
    [
      "arguments that are too long together",
      () => ({ argv: ["true", ...Array.from({ length: 20 }, () => "x".repeat(ARGV_MAX_BYTES / 16))] }),
      "ARGUMENTS_TOO_LONG",
    ],
    [
      "an environment that is too long",
      () => ({
        argv: ["true"],
        env: Object.fromEntries(
          Array.from({ length: 20 }, (_, n) => [`V${n}`, "x".repeat(ARGV_MAX_BYTES / 16)]),
        ),
      }),
      "ARGUMENTS_TOO_LONG",
    ],
    ["an argument with a NUL", () => ({ argv: ["true", "a\0b"] }), "INVALID_REQUEST"],
    ["no program at all", () => ({ argv: [] }), "INVALID_REQUEST"],
  ];
  test.each(refused)("%s is a typed error before anything is made", async (_name, make, code) => {
    const { dir, runsDir, spawner, request } = makeBench();
    const { argv, ...given } = make(dir);
    const wanted = request(argv, given);
    await expect(spawner.check(wanted)).rejects.toMatchObject({ code });
    await expect(spawner.launch(wanted)).rejects.toMatchObject({ name: "HoldfastError", code });
    expect(() => statSync(runsDir)).toThrow();
  });

  test("a program that is being written is an exec that failed, not an exit of the agent", async () => {
    const { dir, launch } = makeBench();
    const busy = join(dir, "busy");
    copyFileSync("/bin/true", busy);
    chmodSync(busy, 0o755);
    const { openSync, closeSync } = await import("node:fs");
    const fd = openSync(busy, "r+");
    await expect(launch([busy])).rejects.toMatchObject({
      code: "EXEC_FAILED",
      message: expect.stringContaining("Text file busy"),
    });
    closeSync(fd);
  });

  test("a program that itself exits 127 has run", async () => {
    const { launch } = makeBench();
    for (const code of ["126", "127"]) {
      const run = await launch([child("exits.sh"), code]);
      expect(await run.exited).toMatchObject({ exit_code: Number(code), reason: "exited", signal: null });
    }
  });
});

describe("stdin", () => {
  test("a prompt is read whole, then ends", async () => {
    const { launch } = makeBench();
    const run = await launch([child("echoes.sh")], { stdin: { kind: "text", text: "one\ntwo\n" } });
    await run.exited;
    expect(printed(run)).toBe("got one\ngot two\neof\n");
    await expect(run.write("x")).rejects.toMatchObject({ code: "STDIN_CLOSED" });
  });

  test("none at all is an end at once", async () => {
    const { launch } = makeBench();
    const run = await launch([child("echoes.sh")]);
    await run.exited;
    expect(printed(run)).toBe("eof\n");
  });

  test("an open one takes what is appended, in order, until it is closed", async () => {
    const { launch } = makeBench();
    const run = await launch([child("echoes.sh")], { stdin: { kind: "open", text: "first\n" } });
    await until(() => printed(run) === "got first\n", "the first line arrives");
    for (let n = 0; n < 50; n += 1) await run.write(`${n}\n`);
    await until(() => printed(run).includes("got 49\n"), "the last line arrives");
    await run.write("last words\n");
    await run.closeStdin();
    expect(await run.exited).toMatchObject({ exit_code: 0, reason: "exited" });
    const expected = ["first", ...Array.from({ length: 50 }, (_, n) => String(n)), "last words"].map(
      (line) => `got ${line}\n`,
    );
    expect(printed(run)).toBe(`${expected.join("")}eof\n`);
    await expect(run.write("late")).rejects.toMatchObject({ code: "STDIN_CLOSED" });
    await run.closeStdin();
  });

  test("closing an open one right after a long text loses none of it", async () => {
    const { launch } = makeBench();
    const text = `${"x".repeat(99)}\n`.repeat(10_000);
    const run = await launch(["sh", "-c", "cat | wc -c"], { stdin: { kind: "open", text: "" } });
    await run.write(text);
    await run.closeStdin();
    await run.exited;
    expect(Number(printed(run))).toBe(text.length);
  });

  test("an open one outlives a signal that the agent survives", async () => {
    const { launch } = makeBench();
    const run = await launch(
      [
        "sh",
        "-c",
        "trap 'echo usr1' USR1; echo ready; while :; do read -r line && echo got $line && exit 3; done",
      ],
      { stdin: { kind: "open", text: "" } },
    );
    await until(() => printed(run) === "ready\n", "ready");
    await run.signal("SIGUSR1");
    await run.write("hello\n");
    expect(await run.exited).toMatchObject({ exit_code: 3 });
    expect(printed(run)).toContain("got hello");
  });
});
