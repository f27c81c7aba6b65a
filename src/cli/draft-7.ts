/** JSON Schemas as the manifest shows them. */
import * as z from "zod";

/** Every integer of JSON that is read exactly is within these: as bounds they say nothing, and the manifest has a bound of bytes. */
const sayNothing = ({ jsonSchema }: { readonly jsonSchema: z.core.JSONSchema.BaseSchema }): void => {
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
};

export const toJson = (schema: z.ZodType, io: "input" | "output"): object =>
  z.toJSONSchema(schema, { io, unrepresentable: "any", target: "draft-7", override: sayNothing });
