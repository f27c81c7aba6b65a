import { configDefaults, defineConfig } from "vitest/config";

/** Unit tests that share no process with others: the first replaces a module, the second takes half a minute. */
const APART = ["test/adapters/kinds/new-kind.unit.test.ts", "test/sim/simulator.unit.test.ts"];
// Real CLIs are fetched and run by `npm run test:agents`.
const exclude = [...configDefaults.exclude, "test/agents/**"];

export default defineConfig({
  test: {
    // For what hangs, not for what is slow: CI may be busy with other work.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    maxWorkers: 2,
    // All that we print and send is judged by the contracts (docs/reference/validation.md).
    env: { HOLDFAST_VALIDATE: "1" },
    // In the order of their names: the long files first, so that no processor waits for one at the end.
    projects: [
      {
        extends: true,
        test: {
          name: "apart",
          include: ["test/**/*.{int,e2e,chaos}.test.ts", ...APART],
          exclude,
          globalSetup: "test/support/once.ts",
        },
      },
      {
        extends: true,
        // A process of its own for each of 190 files would take longer than most of them do.
        test: {
          name: "pure",
          include: ["test/**/*.unit.test.ts"],
          exclude: [...exclude, ...APART],
          isolate: false,
        },
      },
    ],
  },
});
