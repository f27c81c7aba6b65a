/** A long text is scanned in pieces. */
import { expect, it } from "vitest";
import { COPY_UNITS } from "../../../src/base/secrets/copied.ts";
import { redactText } from "../../../src/protocol/redact.ts";

const token = `ghp_${"aB3dE5gH7j".repeat(4).slice(0, 36)}`;

it("finds a token wherever it stands on the border of two pieces, and one after it", () => {
  for (const around of [COPY_UNITS, 2 * COPY_UNITS - 1])
    for (let before = around - token.length - 2; before < around + 3; before += 1) {
      const [head, tail] = [".".repeat(before), ".".repeat(500)];
      expect(redactText(`${head}${token}${tail} ${token}`)).toBe(`${head}***${tail} ***`);
    }
});

it("takes a character for itself, and not for another one with the same low byte", () => {
  const shifted = [...token].map((char) => String.fromCharCode(char.charCodeAt(0) + 0x100)).join("");
  expect(redactText(`${shifted} é日${token}é`)).toBe(`${shifted} é日***é`);
});
