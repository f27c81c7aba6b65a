import { expect, test } from "vitest";
import { base64urlOf, bytesOfBase64url, bytesOfHex, hexOf } from "../../../src/weblisk/identity/forms.ts";

test.each([
  ["00ff", 2, true],
  ["00FF", 2, false],
  ["00f", 2, false],
  ["00ff00", 2, false],
  ["0x00", 2, false],
  ["00fg", 2, false],
  ["00ff\n", 2, false],
  ["", 0, true],
])("hex %j of %s bytes: %s", (text, length, isRead) => {
  const bytes = bytesOfHex(text, length);
  expect(bytes !== undefined).toBe(isRead);
  if (bytes !== undefined) expect(hexOf(bytes)).toBe(text);
});

test.each([
  ["AP8", 2, true],
  // The last digit has loose bits.
  ["AP9", 2, false],
  ["AP8=", 2, false],
  ["AP+_", 3, false],
  ["AP-_", 3, true],
  ["AP8", 3, false],
  ["AP 8", 2, false],
])("base64url %j of %s bytes: %s", (text, length, isRead) => {
  const bytes = bytesOfBase64url(text, length);
  expect(bytes !== undefined).toBe(isRead);
  if (bytes !== undefined) expect(base64urlOf(bytes)).toBe(text);
});
