import { expect, it } from "vitest";
import { jsonSchemas } from "../../src/protocol/json-schemas.ts";
import { Requests } from "../../src/protocol/requests.ts";

it("every contract and every request has a JSON Schema of draft 2020-12", () => {
  const schemas = jsonSchemas();
  expect(Object.keys(schemas)).toEqual([
    "agent-event",
    "agent-completion",
    "envelope-v1",
    "response-envelope",
    "log-gap",
    "response-envelope-g2",
    "worker-spec",
    ...Object.keys(Requests),
  ]);
  for (const [name, schema] of Object.entries(schemas)) {
    expect(schema).toMatchObject({ title: name, $schema: "https://json-schema.org/draft/2020-12/schema" });
    expect(JSON.parse(JSON.stringify(schema))).toEqual(schema);
  }
});

it("AgentEvent has exactly its six fields, two of them required", () => {
  const event = jsonSchemas()["agent-event"]!;
  expect(Object.keys(event.properties!)).toEqual([
    "agent_kind",
    "kind",
    "channel",
    "text",
    "message",
    "data",
  ]);
  expect(event).toMatchObject({ required: ["agent_kind", "kind"], additionalProperties: false });
});

it("a field with a default may be left out of a request", () => {
  expect(jsonSchemas()["agent/kill"]!.required ?? []).toEqual([]);
  expect(jsonSchemas()["agent/ask"]!.required).toEqual(["id", "text"]);
});
