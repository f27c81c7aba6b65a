/** JSON Schemas as the manifest shows them. */
import { isDeepStrictEqual } from "node:util";
import * as z from "zod";

/** The manifest has a bound of bytes, so it has none of what says nothing. */
const sayNothing = ({ jsonSchema }: { readonly jsonSchema: z.core.JSONSchema.BaseSchema }): void => {
  // Each name of a member is a text.
  if (isDeepStrictEqual(jsonSchema.propertyNames, { type: "string" })) delete jsonSchema.propertyNames;
  // Every integer of JSON that is read exactly is within these.
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
};

export const toJson = (schema: z.ZodType, io: "input" | "output"): object =>
  z.toJSONSchema(schema, { io, unrepresentable: "any", target: "draft-7", override: sayNothing });
