/** Where in a value a text has the shape of a secret, by the rules with which we mask our own. */
import { redactText } from "../redact.ts";
import { pointerOf } from "./finding.ts";

/** The value has the bounded depth of what `readJson` gives. */
export const secretsIn = function* (value: unknown, path: readonly string[]): Generator<string> {
  if (typeof value === "string") {
    if (redactText(value) !== value) yield pointerOf(...path);
  } else if (typeof value === "object" && value !== null)
    for (const [key, item] of Object.entries(value))
      if (typeof item === "string" || typeof item === "object") yield* secretsIn(item, [...path, key]);
};
