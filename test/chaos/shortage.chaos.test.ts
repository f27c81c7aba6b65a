/** The daemon, or the fork server beside it, runs out of descriptors: both live on, say so, and go on where they were when some come free. */
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { theReaper } from "../../src/adapters/process/reaper.ts";
import { child, startDaemon, temporaryDirectory, until } from "./support.ts";

const limitOf = (pid: number): string =>
  /^Max open files\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/limits`, "latin1"))?.[1] ?? "";
const setLimit = (pid: number, soft: string): void => {
  execFileSync("prlimit", ["--pid", String(pid), `--nofile=${soft}:`]);
};

/** The fork server of a daemon: its only child that is one. */
const forkServerOf = (daemon: number): number =>
  Number(
    readFileSync(`/proc/${daemon}/task/${daemon}/children`, "latin1")
      .trim()
      .split(" ")
      .find((pid) => readFileSync(`/proc/${pid}/cmdline`, "latin1").includes("# holdfast fork server")),
  );

test("a spawn while the daemon has no descriptor left runs or is refused; the daemon and its agents live", async ({
  skip,
}) => {
  const daemon = await startDaemon();
  const running = await daemon.spawn([child("tells-time.sh")]);
  await until("it runs", async () => (await daemon.info(running)).state === "running");
  const before = limitOf(daemon.pid);
  const used = new Set(readdirSync(`/proc/${daemon.pid}/fd`).map(Number));
  const free = Array.from({ length: used.size + 3 }, (_, fd) => fd).filter((fd) => !used.has(fd));
  try {
    // One for the connection.
    setLimit(daemon.pid, String(free[1]));
  } catch {
    return skip("this machine has no prlimit");
  }
  const file = `${temporaryDirectory()}/done`;
  const spawned = await daemon
    .spawn([child("notes-its-run.sh"), file, "short"])
    .catch((error: Error) => error.message);
  const isAccepted = typeof spawned === "string" && !spawned.includes(" ");
  // The connection itself may find that a reader of output has the last descriptor.
  if (!isAccepted) expect(spawned).toMatch(/Too many files are open|ECONNRESET/);
  setLimit(daemon.pid, before);
  const again = isAccepted ? spawned : await daemon.spawn([child("notes-its-run.sh"), file, "short"]);
  await daemon.wait([again]);
  expect(await daemon.info(again)).toMatchObject({ incarnation: 1 });
  expect(readFileSync(file, "utf8")).toBe("start short 1\nexit short 1\n");
  expect(await daemon.info(running)).toMatchObject({ state: "running", incarnation: 1 });
});

test.skipIf(theReaper() === undefined)(
  "a spawn while the fork server has no descriptor left waits for one, in its first incarnation",
  async ({ skip }) => {
    const daemon = await startDaemon();
    const running = await daemon.spawn([child("tells-time.sh")]);
    await until("it runs", async () => (await daemon.info(running)).state === "running");
    const server = forkServerOf(daemon.pid);
    const before = limitOf(server);
    try {
      setLimit(server, "3");
    } catch {
      return skip("this machine has no prlimit");
    }
    const file = `${temporaryDirectory()}/done`;
    const spawned = await daemon.spawn([child("notes-its-run.sh"), file, "short"]);
    await until("its start is waited for", () =>
      readFileSync(`${daemon.stateDir}.said`, "utf8").includes("waits for its start"),
    );
    expect(await daemon.info(spawned)).toMatchObject({ state: "starting", incarnation: 1 });
    setLimit(server, before);
    await daemon.wait([spawned]);
    expect(await daemon.info(spawned)).toMatchObject({ incarnation: 1 });
    expect(readFileSync(file, "utf8")).toBe("start short 1\nexit short 1\n");
    expect(await daemon.info(running)).toMatchObject({ state: "running", incarnation: 1 });
  },
);

test.skipIf(theReaper() === undefined)(
  "a fork server that is killed costs nobody that runs anything, and the next spawn has another one",
  async () => {
    const daemon = await startDaemon();
    const running = await daemon.spawn([child("tells-time.sh")]);
    await until("it runs", async () => (await daemon.info(running)).state === "running");
    const server = forkServerOf(daemon.pid);
    process.kill(server, "SIGKILL");
    await until("its loss is told", () =>
      readFileSync(`${daemon.stateDir}.said`, "utf8").includes("The fork server has ended"),
    );
    const file = `${temporaryDirectory()}/done`;
    const spawned = await daemon.spawn([child("notes-its-run.sh"), file, "next"]);
    await daemon.wait([spawned]);
    expect(readFileSync(file, "utf8")).toBe("start next 1\nexit next 1\n");
    expect(forkServerOf(daemon.pid)).not.toBe(server);
    expect(await daemon.info(running)).toMatchObject({ state: "running", incarnation: 1 });
    await daemon.kill([running]);
    expect(await daemon.info(running)).toMatchObject({ state: "cancelled" });
  },
);
