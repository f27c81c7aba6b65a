/** A short run of the nemesis (docs/explanation/chaos.md): every fault at least once on the real daemon, and the history is whole. */
import { execFile } from "node:child_process";
import { resolve } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { full } from "../support/figures.ts";

const RUN = resolve(import.meta.dirname, "nemesis/run.ts");
const MINUTES = full ? "10" : "0.2";
const SEED = "1";

test(`${MINUTES} minutes of the nemesis lose nothing, do nothing twice, and leave nothing behind`, {
  timeout: 1_200_000,
}, async () => {
  const run = promisify(execFile)(process.execPath, [RUN, "--minutes", MINUTES, "--seed", SEED]);
  const { stdout } = await run.catch((cause: { stdout: string }) => cause);
  expect(stdout).toContain("nothing was lost, nothing was done twice, nothing is left\n");
});
