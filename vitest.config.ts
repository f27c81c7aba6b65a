import { configDefaults, defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.{unit,int,e2e,chaos}.test.ts"],
    // Real CLIs are fetched and run by `npm run test:agents`.
    exclude: [...configDefaults.exclude, "test/agents/**"],
    // For what hangs, not for what is slow: CI may be busy with other work.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    maxWorkers: 2,
    // All that we print and send is judged by the contracts (docs/validation.md).
    env: { HOLDFAST_VALIDATE: "1" },
  },
});
