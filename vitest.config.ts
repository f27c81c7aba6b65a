import { configDefaults, defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.{unit,int,e2e,chaos}.test.ts"],
    // Real CLIs are fetched and run by `npm run test:agents`.
    exclude: [...configDefaults.exclude, "test/agents/**"],
    testTimeout: 30_000,
    hookTimeout: 60_000,
    maxWorkers: 2,
  },
});
