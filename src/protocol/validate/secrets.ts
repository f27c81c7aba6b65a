/** The places of a value that tell a secret: where the rules with which we mask our own would mask it. */
import { redactValue } from "../redact.ts";
import { pointerOf } from "./finding.ts";

/** The value has the bounded depth of what `readJson` gives. */
export const secretsIn = (value: unknown, path: readonly string[]): Generator<string> =>
  differences(value, redactValue(value), path);

const differences = function* (value: unknown, masked: unknown, path: readonly string[]): Generator<string> {
  if (value === masked) return;
  if (!isNested(value)) return yield pointerOf(...path);
  // Too deep to be looked through: another rule's matter.
  if (!isNested(masked)) return;
  // A member whose name is masked stays in its place.
  const shown = Object.entries(masked);
  for (const [index, [key, item]] of Object.entries(value).entries()) {
    const [name, other] = shown[index] ?? [];
    if (name === key) yield* differences(item, other, [...path, key]);
    else yield pointerOf(...path, name ?? "***");
  }
};

const isNested = (value: unknown): value is object => typeof value === "object" && value !== null;
