/** Reads a body as one of the canonical types. Members that the type does not know stay, and nulls read as absent. Pure. */
import type * as z from "zod";
import type { JsonObject } from "../../base/json.ts";
import { WEBLISK_PLACE_MAX_CHARS } from "../../base/limits.ts";
import { withoutNulls } from "../wire/body.ts";
import { WebliskRefusal } from "../wire/refusal.ts";

/** Throws INVALID_REQUEST, which names the first member that does not fit. */
export const readAs = <T extends z.ZodType>(type: T, value: JsonObject): z.output<T> => {
  const read = type.safeParse(withoutNulls(value));
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  const place = (issue?.path.join(".") ?? "").slice(0, WEBLISK_PLACE_MAX_CHARS);
  throw new WebliskRefusal(
    "INVALID_REQUEST",
    `${place === "" ? "The body" : `The member ${place}`} does not fit: ${issue?.message ?? "it is missing"}.`,
    { reason: "member_invalid", detail: { member: place } },
  );
};
