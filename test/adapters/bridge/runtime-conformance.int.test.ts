/** The runtime behind a bridge keeps the duties of every runtime. */
import { describe, test } from "vitest";
import {
  type RunBehaviour,
  type RuntimeBench,
  runtimeConformance,
} from "../../../src/adapters/runtime-conformance.ts";
import { makePlace } from "./support.ts";

const argvOf = (behaviour: RunBehaviour): readonly string[] => {
  switch (behaviour.does) {
    case "prints":
      return ["print", String(behaviour.code), ...behaviour.lines];
    case "is_deaf":
      return ["deaf"];
    default:
      return ["wait"];
  }
};

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
  for (const { title, check } of runtimeConformance(open)) test(title, check);
});
