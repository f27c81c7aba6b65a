/**
 * `npm test`: everything that CI holds a change against, in the order in which it is cheapest to fail. Each check counts
 * as one test; the last line says how many passed and failed. `npm test -- test/store` runs only those tests.
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isBuilt } from "./sources.ts";
import { type Counts, type Failure, failureLines, type Tally, tally } from "./tally.ts";

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
const failures: Failure[] = [];
/** Checks that failed, each with the command that runs it alone. */
const failedChecks: string[] = [];

const passed = (title: string, how: string): void => {
  total.passed += 1;
  process.stdout.write(`ok     ${title} (${how})\n`);
};

const check = (title: string, command: string, args: readonly string[]): void => {
  const before = performance.now();
  const { status } = spawnSync(command, args, { cwd: root, stdio: ["ignore", "inherit", "inherit"] });
  const took = `${((performance.now() - before) / 1000).toFixed(1)} s`;
  if (status === 0) {
    passed(title, took);
    return;
  }
  total.failed += 1;
  failedChecks.push(`FAILED ${title}`, `  alone: ${[command, ...args].join(" ")}`);
  process.stdout.write(`FAILED ${title} (${took})\n`);
};

/** Runs vitest and counts what came of it. A run without a report is one failure. */
const vitest = (args: readonly string[]): Tally => {
  const dir = mkdtempSync(join(tmpdir(), "holdfast-report-"));
  const report = join(dir, "report.json");
  const unhandled = join(dir, "unhandled.json");
  const reporters = ["default", "json", join(root, "scripts/unhandled.ts")];
  const { status } = spawnSync(
    bin("vitest"),
    ["run", ...reporters.map((each) => `--reporter=${each}`), `--outputFile.json=${report}`, ...args],
    {
      cwd: root,
      env: { ...process.env, HOLDFAST_UNHANDLED: unhandled },
      stdio: ["ignore", "inherit", "inherit"],
    },
  );
  const read = (file: string): unknown => JSON.parse(readFileSync(file, "utf8"));
  try {
    return tally(read(report), read(unhandled), status === 0);
  } catch {
    return { passed: 0, failed: 1, skipped: 0, aborted: [], failures: [] };
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
};

const add = ({ passed, failed, skipped }: Counts): void => {
  total.passed += passed;
  total.failed += failed;
  total.skipped += skipped;
};

const tests = (args: readonly string[]): void => {
  const first = vitest(args);
  add(first);
  failures.push(...first.failures);
  if (first.aborted.length === 0) return;
  process.stdout.write(`V8 ABORTED (SIGTRAP) under ${first.aborted.join(", ")}: run once more.\n`);
  const second = vitest([...args.filter((arg) => arg.startsWith("--")), ...first.aborted]);
  add(second);
  failures.push(...second.failures);
  total.failed += second.aborted.length;
};

if (given.length === 0) {
  check("format and lint", bin("biome"), ["ci", "--error-on-warnings"]);
  // `npm ci` has just built a clean clone.
  if (isBuilt(root)) passed("build", "of these sources");
  else check("build", process.execPath, [join(root, "scripts/build.ts")]);
  check("types", bin("tsc"), ["-p", root]);
  check("types of the dashboard", bin("tsc"), ["-p", join(root, "src/web")]);
  check("dead exports, dead files, dependencies", bin("knip"), []);
}
tests(given);
const said = [...failedChecks, ...failureLines(failures, root)];
if (said.length > 0) process.stdout.write(`\n${said.join("\n")}\n\n`);
process.stdout.write(
  `${total.passed} passed, ${total.failed} failed${total.skipped > 0 ? `, ${total.skipped} skipped` : ""}\n`,
);
process.exit(total.failed === 0 ? 0 : 1);
