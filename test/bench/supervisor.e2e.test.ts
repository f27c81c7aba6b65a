/** The sides of `npm run bench -- supervisor` run and tell what they measured; how fast they are is not asked here. */
import { execFile } from "node:child_process";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";

const bench = resolve(import.meta.dirname, "../../bench");

it.each(["supervisor-floor.ts", "supervisor-ours.ts"])(
  "%s begins, crashes and begins again what it is told",
  async (file) => {
    const args = ["--expose-gc", join(bench, file), "100", "2"];
    const { stdout, stderr } = await promisify(execFile)(process.execPath, args);
    expect(stderr).toBe("");
    expect(JSON.parse(stdout)).toEqual({
      restarts_per_s: expect.any(Number),
      processor_us: expect.any(Number),
      bytes_per_worker: expect.any(Number),
    });
  },
);
