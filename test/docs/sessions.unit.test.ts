/** docs/explanation/sessions.md says of every kind what its adapter says. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import type { AgentAdapter } from "../../src/adapters/adapter.ts";
import { adapters } from "../../src/adapters/registry.ts";
import { kindOf } from "../../src/commands/kinds.ts";
import { FORK, RESUME } from "../../src/protocol/extensions.ts";
import { WorkerSpec } from "../../src/protocol/worker.ts";

const page = readFileSync(join(import.meta.dirname, "../../docs/explanation/sessions.md"), "utf8");
const yes = (can: boolean): string => (can ? "yes" : "–");
const words = (names: readonly string[] = []): string =>
  names.length === 0 ? "–" : names.map((name) => `\`${name}\``).join(", ");

const goesOnInTheNewest = ({ kind, validate }: AgentAdapter): boolean => {
  const ext = { [RESUME]: { selector: "last" } };
  return (
    validate(WorkerSpec.parse({ kind, prompt: "Hi.", argv: ["x"], cwd: "/", restart: "temporary", ext }))
      .length === 0
  );
};

const rowOf = (adapter: AgentAdapter): string => {
  const { kind, capabilities, sessions_under, reading_tools, messages } = adapter;
  const { short, converses } = kindOf(kind)!;
  const cells = [
    `\`${short}\``,
    yes(capabilities.includes(RESUME)),
    yes(capabilities.includes(RESUME) && goesOnInTheNewest(adapter)),
    yes(capabilities.includes(FORK)),
    yes(converses && messages?.acknowledges === true),
    words(sessions_under),
    words(reading_tools),
  ];
  return `| ${cells.join(" | ")} |`;
};

it("the page has a row for every kind but command, as its adapter has it", () => {
  const rows = page.split("\n").filter((line) => /^\| `[a-z]+` \| (yes|–) \|/.test(line));
  expect(rows).toEqual(adapters.filter(({ kind }) => kind !== "command").map(rowOf));
});
