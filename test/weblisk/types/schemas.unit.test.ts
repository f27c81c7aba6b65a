import { describe, expect, it } from "vitest";
import { AgentManifest } from "../../../src/weblisk/types/agents.ts";
import { STANDARD_CAPABILITIES } from "../../../src/weblisk/types/parts.ts";
import { readAs } from "../../../src/weblisk/types/read.ts";
import { WEBLISK_TYPES, webliskSchemas } from "../../../src/weblisk/types/schemas.ts";
import { golden } from "./golden.ts";

/** weblisk.txt, Core Types: the fields of each. */
const DOCUMENT: Readonly<Record<string, string>> = {
  AgentManifest:
    "name type version description url public_key capabilities inputs outputs collaborators approval max_concurrent",
  TaskRequest: "id token context inputs priority deadline",
  TaskResult: "task_id status output changes observations recommendations signature duration_ms",
  ServiceDirectory: "agents",
  ChannelGrant: "channel_id agents token expires signature",
  ErrorResponse: "error code category retryable detail",
  HealthStatus: "name version status uptime_seconds metrics",
  Capability: "name resources",
};

describe.each(Object.entries(DOCUMENT))("%s", (name, fields) => {
  it("has every field of the document", () => {
    const { $defs } = webliskSchemas() as { $defs: Record<string, { properties: object }> };
    expect(Object.keys($defs[name]!.properties)).toEqual(expect.arrayContaining(fields.split(" ")));
  });
});

it("every type has an example, which reads as itself with all members that it does not know", () => {
  expect(Object.keys(golden).sort()).toEqual(Object.keys(WEBLISK_TYPES).sort());
  for (const [name, example] of Object.entries(golden)) {
    const given = { ...example, later_member: { kept: [1] } };
    expect(WEBLISK_TYPES[name as keyof typeof WEBLISK_TYPES].parse(given), name).toEqual(given);
  }
});

it("nulls read as absent, and a list that is null as empty", () => {
  const manifest = { name: "a", url: "http://a", public_key: "00", capabilities: null, description: null };
  expect(readAs(AgentManifest, manifest)).toMatchObject({
    capabilities: [],
    description: "",
    max_concurrent: 1,
  });
  expect(() => readAs(AgentManifest, { ...manifest, name: "../up" })).toThrowError(
    expect.objectContaining({ code: "INVALID_REQUEST", message: expect.stringContaining("name") }),
  );
});

it("the schemas refer to nothing outside themselves, and know the standard capabilities by form", () => {
  const text = JSON.stringify(webliskSchemas());
  const names = [...text.matchAll(/"\$ref":"#\/\$defs\/(\w+)"/g)].map(([, name]) => name);
  expect(names.filter((name) => !(name! in WEBLISK_TYPES))).toEqual([]);
  expect(text).not.toMatch(/"\$ref":"(?!#\/\$defs\/)/);
  for (const name of STANDARD_CAPABILITIES)
    expect(WEBLISK_TYPES.Capability.safeParse({ name }).success, name).toBe(true);
  expect(WEBLISK_TYPES.Capability.safeParse({ name: "file" }).success).toBe(false);
});
