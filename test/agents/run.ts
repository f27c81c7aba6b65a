/**
 * `npm run test:agents`: the real CLIs under the built `agent` command, against the fake model, without a network where
 * the machine allows that. It fails when they cannot be installed;
 * with HOLDFAST_AGENTS=optional their tests are counted as skipped instead. HOLDFAST_AGENTS=all tests every one of them.
 */
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { install } from "./install.ts";
import { loopbackOnly } from "./namespace.ts";

const TEST_MAX_MS = 120_000;
/** More than there may be CPUs: a test mostly waits. */
const FILES_AT_ONCE = 3;
const root = join(import.meta.dirname, "../..");
const say = (line: string): boolean => process.stdout.write(`${line}\n`);

const run = (command: readonly string[]): number =>
  spawnSync(command[0]!, command.slice(1), { cwd: root, stdio: ["ignore", "inherit", "inherit"] }).status ??
  1;

const problem = install();
if (problem !== undefined) {
  say(`REAL AGENTS NOT TESTED: ${problem}.`);
  if (process.env.HOLDFAST_AGENTS !== "optional") {
    say("0 passed, 1 failed");
    process.exit(1);
  }
}

const built = run([process.execPath, "scripts/build.ts"]);
if (built !== 0) {
  say("0 passed, 1 failed");
  process.exit(built);
}

const inside = loopbackOnly();
say(
  inside === undefined
    ? "Network: NOT isolated, because no network namespace can be made here."
    : "Network: a namespace with the loopback interface alone.",
);
process.exit(
  run([
    ...(inside ?? []),
    process.execPath,
    "scripts/test.ts",
    "--root=test/agents",
    `--maxWorkers=${FILES_AT_ONCE}`,
    `--testTimeout=${TEST_MAX_MS}`,
    `--hookTimeout=${TEST_MAX_MS}`,
    ...process.argv.slice(2),
  ]),
);
