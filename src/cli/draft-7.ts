/** JSON Schemas as the manifest shows them. */
import * as z from "zod";

export const toJson = (schema: z.ZodType, io: "input" | "output"): object =>
  z.toJSONSchema(schema, { io, unrepresentable: "any", target: "draft-7" });
