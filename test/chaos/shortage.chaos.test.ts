/** The daemon runs out of descriptors: it lives on, says so, and goes on where it was when some come free. */
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { child, startDaemon, temporaryDirectory, until } from "./support.ts";

const limitOf = (pid: number): string =>
  /^Max open files\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/limits`, "latin1"))?.[1] ?? "";
const setLimit = (pid: number, soft: string): void => {
  execFileSync("prlimit", ["--pid", String(pid), `--nofile=${soft}:`]);
};

test("a spawn while no descriptor is left waits for one; the daemon and its agents live", async ({
  skip,
}) => {
  const daemon = await startDaemon();
  const running = await daemon.spawn([child("tells-time.sh")]);
  await until("it runs", async () => (await daemon.info(running)).state === "running");
  const before = limitOf(daemon.pid);
  const used = new Set(readdirSync(`/proc/${daemon.pid}/fd`).map(Number));
  const free = Array.from({ length: used.size + 3 }, (_, fd) => fd).filter((fd) => !used.has(fd));
  try {
    // One for the connection, one for the launch spec: the launch itself needs more.
    setLimit(daemon.pid, String(free[2]));
  } catch {
    return skip("this machine has no prlimit");
  }
  const file = `${temporaryDirectory()}/done`;
  const spawned = await daemon
    .spawn([child("notes-its-run.sh"), file, "short"])
    .catch((error: Error) => error.message);
  const waits = typeof spawned === "string" && !spawned.includes(" ");
  if (waits) {
    await until("its start is waited for", () =>
      readFileSync(`${daemon.stateDir}.said`, "utf8").includes("waits for its start"),
    );
    expect(await daemon.info(spawned)).toMatchObject({ state: "starting", incarnation: 1 });
  } else expect(spawned).toContain("Too many files are open");
  setLimit(daemon.pid, before);
  const again = waits ? spawned : await daemon.spawn([child("notes-its-run.sh"), file, "short"]);
  await daemon.wait([again]);
  expect(await daemon.info(again)).toMatchObject({ incarnation: 1 });
  expect(readFileSync(file, "utf8")).toBe("start short 1\nexit short 1\n");
  expect(await daemon.info(running)).toMatchObject({ state: "running", incarnation: 1 });
});
