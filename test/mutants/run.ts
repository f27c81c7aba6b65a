/**
 * `npm run mutants`: each mistake of table.ts, in a copy of the sources, must fail the test file that is named for it within
 * MUTANT_MAX_MS. `npm run mutants -- WORD` runs those whose file, reason or test has the word.
 */
import { spawn } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { MUTANTS, type Mutant } from "./table.ts";

const POOL = 2;
/** A mutant that is not found by then counts as one that lives. CI machines are slow: its tests take a second of it. */
const MUTANT_MAX_MS = 30_000;
const root = join(import.meta.dirname, "../..");
const COPIED = ["src", "test", "package.json", "tsconfig.json", "vitest.config.ts"];

interface Report {
  readonly numFailedTests: number;
}

const makeCopy = (): string => {
  const copy = mkdtempSync(join(tmpdir(), "holdfast-mutants-"));
  for (const name of COPIED) cpSync(join(root, name), join(copy, name), { recursive: true });
  symlinkSync(join(root, "node_modules"), join(copy, "node_modules"));
  return copy;
};

/** Why it was not found; undefined: a test failed, as it should. */
const hunt = async (copy: string, { file, find, replace, by }: Mutant): Promise<string | undefined> => {
  const path = join(copy, file);
  const source = readFileSync(path, "utf8");
  if (source.split(find).length !== 2) return "its place does not stand exactly once in the file";
  writeFileSync(
    path,
    source.replace(find, () => replace),
  );
  const report = join(copy, "report.json");
  rmSync(report, { force: true });
  const tests = spawn(
    process.execPath,
    [
      join(root, "node_modules/vitest/vitest.mjs"),
      "run",
      by,
      "--bail=1",
      "--reporter=json",
      `--outputFile=${report}`,
    ],
    // The kept seeds are enough: what only a lucky seed finds is not held.
    { cwd: copy, stdio: "ignore", env: { ...process.env, HOLDFAST_SIM_MS: "0" } },
  );
  let isLate = false;
  const clock = setTimeout(() => {
    isLate = true;
    tests.kill("SIGKILL");
  }, MUTANT_MAX_MS);
  await new Promise((resolve) => tests.once("exit", resolve));
  clearTimeout(clock);
  writeFileSync(path, source);
  if (isLate) return `nothing failed within ${MUTANT_MAX_MS / 1_000} s`;
  try {
    const { numFailedTests } = JSON.parse(readFileSync(report, "utf8")) as Report;
    return numFailedTests > 0 ? undefined : "every test passed";
  } catch {
    return "its tests could not be run";
  }
};

const word = process.argv[2] ?? "";
const wanted = MUTANTS.filter(({ file, why, by }) => [file, why, by].some((text) => text.includes(word)));
const waiting = [...wanted];
let alive = 0;

const hunter = async (): Promise<void> => {
  const copy = makeCopy();
  for (let mutant = waiting.shift(); mutant !== undefined; mutant = waiting.shift()) {
    const began = performance.now();
    const lives = await hunt(copy, mutant);
    if (lives !== undefined) alive++;
    const took = ((performance.now() - began) / 1_000).toFixed(1);
    process.stdout.write(
      `${lives === undefined ? "found " : "ALIVE "} ${took.padStart(5)} s  ${mutant.file}: ${mutant.why} (${mutant.by})${lives === undefined ? "" : `: ${lives}`}\n`,
    );
  }
  rmSync(copy, { recursive: true, force: true });
};

const began = performance.now();
await Promise.all(Array.from({ length: POOL }, hunter));
process.stdout.write(
  `${wanted.length - alive} of ${wanted.length} mutants found in ${Math.round((performance.now() - began) / 1_000)} s\n`,
);
process.exit(alive === 0 ? 0 : 1);
