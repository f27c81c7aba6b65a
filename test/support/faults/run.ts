/**
 * `npm run chaos:faults`: the e2e tests of the command and of the daemon again, over a store and a spawner that fail at a
 * modest rate (`-- --rate 0.1`), or those alone that are named (`-- test/cli/tree`). In a copy, whose daemon is another program; the product knows nothing of it.
 */
import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { build } from "esbuild";
import { AS_ONE_FILE } from "../bundled.ts";
import { figure } from "../figures.ts";

const { values, positionals } = parseArgs({
  options: { rate: { type: "string", default: "0.1" } },
  allowPositionals: true,
});

const root = resolve(import.meta.dirname, "../../..");
const COPIED = [
  "bench",
  "bin",
  "dist",
  "examples",
  "scripts",
  "src",
  "test",
  "package.json",
  "tsconfig.json",
  "vitest.config.ts",
];
const TESTS = positionals.length > 0 ? positionals : ["test/cli", "test/daemon"];

const copy = mkdtempSync(join(tmpdir(), "holdfast-faults-"));
const faults = join(copy, "faults");
writeFileSync(faults, "");
try {
  for (const name of COPIED)
    cpSync(join(root, name), join(copy, name), {
      recursive: true,
      // Only tests that start real processes meet the faults.
      filter: (path) => !/\.(unit|int)\.test\.ts$/.test(path),
    });
  symlinkSync(join(root, "node_modules"), join(copy, "node_modules"));
  await build({
    ...AS_ONE_FILE,
    entryPoints: [join(root, "test/support/faults/daemon.ts")],
    outfile: join(copy, "dist/daemon.js"),
    define: { FAULT_RATE: String(Number(values.rate)), FAULTS_FILE: JSON.stringify(faults) },
  });
  const vitest = join(root, "node_modules/vitest/vitest.mjs");
  const args = [vitest, "run", ...TESTS];
  const { status } = spawnSync(process.execPath, args, { cwd: copy, stdio: "inherit" });
  const calls = readFileSync(faults, "utf8").split("\n").slice(0, -1);
  const kinds = [...new Set(calls)].map((kind) => `${calls.filter((call) => call === kind).length} ${kind}`);
  process.stdout.write(`${calls.length} calls failed: ${kinds.sort().join(", ")}\n`);
  figure("R24", {
    rounds: calls.length,
    failures: status === 0 ? 0 : 1,
    note: "calls that failed under the e2e tests of the command and the daemon",
  });
  // Without a fault it was the ordinary suite.
  process.exitCode = calls.length === 0 ? 1 : (status ?? 1);
} finally {
  rmSync(copy, { recursive: true, force: true });
}
