/** Where in a value a secret is told, by the rules with which we mask our own: by the shape of a text, and by the name that it stands below. */
import { isReference, isSecretName, MASK, redactText } from "../redact.ts";
import { pointerOf } from "./finding.ts";

/** The value has the bounded depth of what `readJson` gives. Below a secret's name only a mask, nothing, or a reference (`@env:NAME`) may stand. */
export const secretsIn = function* (
  value: unknown,
  path: readonly string[],
  isBelowName = false,
): Generator<string> {
  if (typeof value === "string") {
    if (isBelowName ? value !== MASK && !isReference(value) : redactText(value) !== value)
      yield pointerOf(...path);
  } else if (typeof value === "object" && value !== null)
    for (const [key, item] of Object.entries(value))
      if (typeof item === "string" || typeof item === "object")
        yield* secretsIn(item, [...path, key], isBelowName || isSecretName(key));
};
