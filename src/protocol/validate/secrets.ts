/** Finds the places of secrets in a value: where our own masking would change it. */
import { redactValue } from "../redact.ts";
import { pointerOf } from "./finding.ts";

/** `readJson` has bounded the depth of the value. */
export const secretsIn = (value: unknown, path: readonly string[]): Generator<string> =>
  differences(value, redactValue(value), path);

const differences = function* (value: unknown, masked: unknown, path: readonly string[]): Generator<string> {
  if (value === masked) return;
  if (!isNested(value)) return yield pointerOf(...path);
  // Deeper values are the matter of another rule.
  if (!isNested(masked)) return;
  // A member whose name is masked keeps its position.
  const shown = Object.entries(masked);
  for (const [index, [key, item]] of Object.entries(value).entries()) {
    const [name, other] = shown[index] ?? [];
    if (name === key) yield* differences(item, other, [...path, key]);
    else yield pointerOf(...path, name ?? "***");
  }
};

const isNested = (value: unknown): value is object => typeof value === "object" && value !== null;
