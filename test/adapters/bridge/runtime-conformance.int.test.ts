/** The runtime behind a bridge keeps the duties of every runtime. */
import { describe, test } from "vitest";
import { type RuntimeBench, runtimeConformance } from "../../../src/adapters/runtime-conformance.ts";
import { argvOf, makePlace } from "./support.ts";

const open = async (): Promise<RuntimeBench> => {
  const made = await makePlace();
  let newest = made.open();
  return {
    runtime: newest,
    request: (behaviour) => ({ argv: argvOf(behaviour), cwd: "/", env: {} }),
    reopen: async () => {
      await newest.close();
      newest = made.open();
      return newest;
    },
    close: () => made.close(),
  };
};

describe("runs in a bridge", () => {
  for (const { title, check } of runtimeConformance(open, { lacks: ["input"] })) test(title, check);
});
