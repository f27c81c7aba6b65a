/** The JSON Schemas of the ResponseEnvelope contract itself, as checks. They are not ours and not part of this repository (test/protocol/vectors.ts). */
import * as z from "zod";
import { vector } from "../protocol/vectors.ts";

type Schema = Parameters<typeof z.fromJSONSchema>[0];

const read = (name: string): Record<string, unknown> =>
  JSON.parse(vector("response-envelope", `${name}.json`));

/** One file is referred to by another, and its condition has no counterpart in zod: `retryable` allows no side effects. */
export const contractSchema = (name: "response-envelope" | "manifest-response"): z.ZodType => {
  const { if: _condition, then: _consequence, $schema: _, $id: __, ...entry } = read("exit-code-entry");
  const schema = read(name);
  const text = JSON.stringify({
    ...schema,
    definitions: { ...(schema.definitions as object), ExitCodeEntry: entry },
  }).replaceAll("exit-code-entry.json", "#/definitions/ExitCodeEntry");
  return z.fromJSONSchema(JSON.parse(text) as Schema);
};
