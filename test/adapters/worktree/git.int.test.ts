/** The places of git's processes: who waits for one may be called off. */
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { git } from "../../../src/adapters/worktree/git.ts";
import { GIT_AT_ONCE_MAX } from "../../../src/protocol/limits.ts";

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
