/** The processes of git: their places, for which others wait, and what they leave. */
import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { theReaper } from "../../../src/adapters/process/reaper.ts";
import { GIT_AT_ONCE_MAX } from "../../../src/base/limits.ts";
import { git } from "../../../src/workspace/worktree/git.ts";
import { makeCanary, temporaryDirectory, until } from "../../adapters/process/support.ts";

/** A git that says nothing and goes on until it is stopped. */
const slowGit = () => {
  const dir = mkdtempSync(join(tmpdir(), "holdfast-git-"));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  writeFileSync(join(dir, "git"), "#!/bin/sh\nexec sleep 600\n");
  chmodSync(join(dir, "git"), 0o755);
  const call = (signal: AbortSignal) =>
    git(["status"], { cwd: dir, client_env: { PATH: `${dir}:/usr/bin:/bin` }, signal });
  return { call };
};
/** A git that leaves a process behind, which has a session of its own and no parent, and says that it is ready. */
const leavingGit = (canary: string, then: string) => {
  const dir = mkdtempSync(join(tmpdir(), "holdfast-git-"));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  const leaves = `(setsid sh -c 'exec 9<>"${canary}"; : >${dir}/ready; exec sleep 1000' </dev/null >/dev/null 2>&1 &)`;
  const script = `#!/bin/sh\n${leaves}\nuntil [ -e ${dir}/ready ]; do sleep 0.02; done\n${then}\n`;
  writeFileSync(join(dir, "git"), script, { mode: 0o755 });
  const call = (how: { readonly signal?: AbortSignal; readonly max_ms?: number } = {}) =>
    git(["status"], { cwd: dir, client_env: { PATH: `${dir}:/usr/bin:/bin` }, ...how });
  return { call, isReady: () => existsSync(join(dir, "ready")) };
};

it.skipIf(theReaper() === undefined)(
  "processes that git leaves are ended with it, and its answer is git's own",
  async () => {
    const canary = makeCanary(temporaryDirectory());
    const { call } = leavingGit(canary.path, "echo said; echo 'fatal: no' >&2; exit 3");
    expect(await call()).toMatchObject({ ok: false, stdout: Buffer.from("said\n"), complaint: "no" });
    expect(canary.isHeld()).toBe(false);
  },
);

it.skipIf(theReaper() === undefined)(
  "so is what is left by a git that is called off, and by one that hears no TERM",
  async () => {
    for (const then of ["exec sleep 1000", "trap '' TERM; while :; do sleep 1; done"]) {
      const canary = makeCanary(temporaryDirectory());
      const { call, isReady } = leavingGit(canary.path, then);
      const off = new AbortController();
      const called = call({ signal: off.signal });
      const refused = expect(called).rejects.toMatchObject(STOPPED);
      await until(isReady, "it has left a process");
      off.abort();
      await refused;
      expect(canary.isHeld()).toBe(false);
    }
  },
);

it("says so if there is no git", async () => {
  const dir = temporaryDirectory();
  await expect(git(["status"], { cwd: dir, client_env: { PATH: dir } })).rejects.toMatchObject({
    message: "There is no git on the worker's PATH.",
  });
});

const STOPPED = { code: "WORKER_CANCELLED" };

it("a call that waits for its place ends when it is called off, and takes nobody's place with it", async () => {
  const { call } = slowGit();
  const working = Array.from({ length: GIT_AT_ONCE_MAX }, () => new AbortController());
  const busy = working.map(({ signal }) => call(signal));
  const all = Promise.allSettled(busy);
  const [early, late, next] = [new AbortController(), new AbortController(), new AbortController()];
  const before = call(AbortSignal.abort());
  const waiting = [early, late, next].map(({ signal }) => call(signal));
  const ends = Promise.allSettled(waiting);

  await expect(before).rejects.toMatchObject(STOPPED);
  late.abort();
  await expect(waiting[1]).rejects.toMatchObject(STOPPED);
  early.abort();
  await expect(waiting[0]).rejects.toMatchObject(STOPPED);

  // All places are given back, and each can be had again.
  for (const one of working) one.abort();
  for (const end of await all) expect(end).toMatchObject({ status: "rejected", reason: STOPPED });
  next.abort();
  for (const end of await ends) expect(end).toMatchObject({ status: "rejected", reason: STOPPED });
  const again = Array.from({ length: GIT_AT_ONCE_MAX }, () => new AbortController());
  const calls = Promise.allSettled(again.map(({ signal }) => call(signal)));
  for (const one of again) one.abort();
  for (const end of await calls) expect(end).toMatchObject({ status: "rejected", reason: STOPPED });
});
