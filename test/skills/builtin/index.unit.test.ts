import { describe, expect, it } from "vitest";
import * as z from "zod";
import { BUILTINS } from "../../../src/skills/builtin/index.ts";

describe.each(BUILTINS.map((skill) => [skill.name, skill] as const))("%s", (name, skill) => {
  it("has the name of a command, a version, and one line that says what it does", () => {
    expect(name).toMatch(/^[a-z0-9][a-z0-9-]*\/[a-z0-9][a-z0-9-]*$/);
    expect(skill.version).toMatch(/^\d+\.\d+\.\d+$/);
    expect(skill.summary).toMatch(/^[A-Z].*\.$/);
    expect(BUILTINS.filter((other) => other.name === name)).toEqual([skill]);
  });

  it("has schemas that can be shown as JSON Schemas, with a sentence for each field of its input", () => {
    const { properties = {} } = z.toJSONSchema(skill.input, { io: "input" });
    for (const field of Object.values(properties))
      expect(field).toMatchObject({ description: expect.stringMatching(/^[A-Za-z]/) });
    expect(z.toJSONSchema(skill.output)).toMatchObject({ type: "object" });
  });
});
