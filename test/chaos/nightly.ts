/**
 * `npm run chaos:nightly`: every promise with its full figure, one after the other, and docs/reference/reliability.md with what came of
 * it. A step that fails does not keep the others from being measured. `-- WORD` does only the steps that have the word.
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

const root = resolve(import.meta.dirname, "../..");
const SIM_SECONDS = 600;
const figures = join(mkdtempSync(join(tmpdir(), "holdfast-figures-")), "figures.ndjson");
const env = { ...process.env, HOLDFAST_FULL: "1", HOLDFAST_FIGURES: figures };

/** Tests that tell figures, or are longer in full. */
const measuring = (readdirSync(join(root, "test"), { recursive: true }) as string[])
  .filter((file) => file.endsWith(".test.ts"))
  .filter((file) => readFileSync(join(root, "test", file), "utf8").includes("support/figures.ts"))
  .map((file) => join("test", file));

const vitest = join(root, "node_modules/vitest/vitest.mjs");
const STEPS: readonly (readonly [string, readonly string[]])[] = [
  ["build", ["scripts/build.ts"]],
  // One at a time: what is measured is measured alone.
  ["tests", [vitest, "run", "--no-file-parallelism", ...measuring]],
  ["faults", ["test/support/faults/run.ts"]],
  ["simulator", ["test/sim/run.ts", "--seconds", String(SIM_SECONDS)]],
  ["reliability", ["test/docs/reliability.ts", "--record", figures]],
];

const word = process.argv[2] ?? "";
const results = STEPS.filter(([name]) => name.includes(word)).map(([name, args]) => {
  const began = performance.now();
  const { status } = spawnSync(process.execPath, args, { cwd: root, env, stdio: "inherit" });
  return { name, ok: status === 0, minutes: (performance.now() - began) / 60_000 };
});
for (const { name, ok, minutes } of results)
  process.stdout.write(`${ok ? "ok    " : "FAILED"} ${name} (${minutes.toFixed(1)} min)\n`);
process.stdout.write(`figures: ${figures}\n`);
process.exit(results.every(({ ok }) => ok) ? 0 : 1);
