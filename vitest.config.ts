import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.{unit,int,e2e,chaos}.test.ts"],
    testTimeout: 30_000,
    hookTimeout: 60_000,
    maxWorkers: 2,
  },
});
