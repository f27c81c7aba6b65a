/**
 * `npm test`: everything that CI holds a change against, in the order in which it is cheapest to fail. Each check counts
 * as one test; the last line says how many passed and failed. `npm test -- test/store` runs only those tests.
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const NODE_MIN = 22;
const root = join(import.meta.dirname, "..");
const bin = (name: string): string => join(root, "node_modules/.bin", name);
const given = process.argv.slice(2);

if (Number(process.versions.node.split(".")[0]) < NODE_MIN) {
  process.stderr.write(
    `This is Node ${process.versions.node}: the bundled one was not installed. Run \`npm ci\` without --ignore-scripts.\n0 passed, 1 failed\n`,
  );
  process.exit(1);
}

const total = { passed: 0, failed: 0, skipped: 0 };

const check = (title: string, command: string, args: readonly string[]): void => {
  const before = performance.now();
  const { status } = spawnSync(command, args, { cwd: root, stdio: ["ignore", "inherit", "inherit"] });
  total[status === 0 ? "passed" : "failed"] += 1;
  process.stdout.write(
    `${status === 0 ? "ok    " : "FAILED"} ${title} (${((performance.now() - before) / 1000).toFixed(1)} s)\n`,
  );
};

interface Report {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly numPendingTests: number;
  readonly numFailedTestSuites: number;
}

const tests = (args: readonly string[]): void => {
  const dir = mkdtempSync(join(tmpdir(), "holdfast-report-"));
  const file = join(dir, "report.json");
  const { status } = spawnSync(
    bin("vitest"),
    ["run", "--reporter=default", "--reporter=json", `--outputFile.json=${file}`, ...args],
    { cwd: root, stdio: ["ignore", "inherit", "inherit"] },
  );
  try {
    const report = JSON.parse(readFileSync(file, "utf8")) as Report;
    total.passed += report.numPassedTests;
    total.failed += report.numFailedTests;
    total.skipped += report.numPendingTests;
    // A file that cannot be loaded fails without a failed test.
    if (status !== 0 && report.numFailedTests === 0) total.failed += Math.max(1, report.numFailedTestSuites);
  } catch {
    total.failed += 1;
  }
  rmSync(dir, { recursive: true, force: true });
};

if (given.length === 0) {
  check("format and lint", bin("biome"), ["ci", "--error-on-warnings"]);
  check("build", process.execPath, [join(root, "scripts/build.ts")]);
  check("types", bin("tsc"), ["-p", root]);
  check("dead exports, dead files, dependencies", bin("knip"), []);
}
tests(given);
process.stdout.write(
  `${total.passed} passed, ${total.failed} failed${total.skipped > 0 ? `, ${total.skipped} skipped` : ""}\n`,
);
process.exit(total.failed === 0 ? 0 : 1);
