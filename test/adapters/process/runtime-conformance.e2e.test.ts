/** The built-in runtime keeps the duties of every runtime. */
import { describe, test } from "vitest";
import { makeProcessSpawner } from "../../../src/adapters/process/spawner.ts";
import {
  type RunBehaviour,
  type RuntimeBench,
  runtimeConformance,
} from "../../../src/adapters/runtime-conformance.ts";
import { child, makeBench } from "./support.ts";

const argvOf = (behaviour: RunBehaviour): readonly string[] => {
  switch (behaviour.does) {
    case "prints":
      return [
        "sh",
        "-c",
        `for line; do printf '%s\\n' "$line"; done; exit ${behaviour.code}`,
        "sh",
        ...behaviour.lines,
      ];
    case "waits":
      return ["sh", "-c", "echo ready; exec sleep 600"];
    case "is_deaf":
      return [child("ignores-term.sh")];
    case "echoes":
      return ["cat"];
  }
};

const open = async (): Promise<RuntimeBench> => {
  const { dir, runsDir, storeId, spawner } = makeBench();
  let newest = spawner;
  return {
    runtime: spawner,
    request: (behaviour) => ({ argv: argvOf(behaviour), cwd: dir, env: { PATH: process.env.PATH ?? "" } }),
    reopen: async () => {
      await newest.close();
      newest = makeProcessSpawner({ runsDir, storeId });
      return newest;
    },
    close: async () => {
      for (const run of await newest.living()) await newest.end(run);
      await newest.close();
    },
  };
};

describe("processes of this machine", () => {
  for (const { title, check } of runtimeConformance(open)) test(title, check);
});
