import { describe, expect, it } from "vitest";
import { HANDLERS } from "../../src/cli/handlers.ts";
import { help } from "../../src/cli/help.ts";
import { manifest } from "../../src/cli/manifest.ts";
import { parse } from "../../src/cli/parse.ts";
import { plainPaint } from "../../src/cli/render/terminal.ts";
import { OUTPUTS } from "../../src/cli/schemas.ts";
import { COMMANDS } from "../../src/commands/commands.ts";
import { GLOBAL_FLAGS } from "../../src/commands/flags.ts";
import { isRequestName } from "../../src/protocol/requests.ts";
import { TOPICS } from "../../src/protocol/spec-fields.ts";

describe.each(COMMANDS.map((command) => [command.words.join(" "), command] as const))(
  "agent %s",
  (_name, command) => {
    it("has a handler, an output schema and a valid Protocol v1 name", () => {
      expect(HANDLERS[command.command]).toBeDefined();
      expect(OUTPUTS[command.command]).toBeDefined();
      expect(command.command).toMatch(/^[a-z0-9][a-z0-9-]*\/[a-z0-9][a-z0-9-]*$/);
      if (command.request) expect(isRequestName(command.request)).toBe(true);
    });

    it("has no flag or short name twice", () => {
      const flags = [...command.flags, ...GLOBAL_FLAGS];
      const names = [...flags.map((flag) => flag.name), ...flags.flatMap((flag) => flag.short ?? [])];
      expect(new Set(names).size).toBe(names.length);
    });

    it("shows its flags in help", () => {
      const text = help(command.words, plainPaint)!;
      for (const flag of command.flags) expect(text).toContain(`--${flag.name}`);
    });

    it("has examples without mistakes", () => {
      for (const example of command.examples) {
        const inner = /agent ([^|>"]*)/.exec(example)![1]!.replace(/-o text\)$/, "-o text");
        const argv = [...inner.matchAll(/'([^']*)'|(\S+)/g)].map(
          (match) => match[1] ?? match[2]!.replace(/\)$/, ""),
        );
        const parsed = parse(argv);
        expect(parsed.kind === "call" ? [...parsed.call.problems, parsed.call.unknown] : []).toEqual([
          undefined,
        ]);
      }
    });
  },
);

describe("manifest", () => {
  it("lists every command with exit codes, flags and schemas", () => {
    const { commands } = manifest() as unknown as {
      commands: Record<string, { exit_codes: Record<string, { name: string }>; output_schema: object }>;
    };
    expect(Object.keys(commands)).toEqual(COMMANDS.map((command) => command.words.join(".")));
    expect(commands.wait!.exit_codes).toMatchObject({
      0: { name: "SUCCESS" },
      2: { name: "PARTIAL_FAILURE" },
      10: { name: "TIMEOUT" },
    });
    expect(commands.list!.output_schema).toMatchObject({ type: "array" });
    expect(commands.spawn!.output_schema).toMatchObject({
      "x-input-schema": { properties: { spec: expect.anything() } },
    });
  });

  it("has the same etag each time", () => {
    expect(manifest()).toEqual(manifest());
  });
});

it("each flag of spawn has one topic, and each topic has flags that there are", () => {
  const spawn = COMMANDS.find((command) => command.command === "agent/spawn")!;
  const named = new Set(spawn.flags.map(({ topic }) => topic ?? TOPICS.at(-1)));
  expect([...named]).toEqual([...TOPICS]);
});
