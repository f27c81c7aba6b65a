import { randomBytes } from "node:crypto";
import { expect, it } from "vitest";
import { isUlid } from "../../../src/protocol/forms.ts";
import { newId } from "../../../src/protocol/ids.ts";
import { newWireId, ulidOfWireId, wireId, wireIdOfUlid } from "../../../src/weblisk/wire/ids.ts";

it("a ULID and its 32 hex digits convert without loss, both ways", () => {
  for (const ulid of [newId(), "0".repeat(26), `7${"Z".repeat(25)}`]) {
    expect(wireId(wireIdOfUlid(ulid))).toBe(wireIdOfUlid(ulid));
    expect(ulidOfWireId(wireIdOfUlid(ulid))).toBe(ulid);
  }
  for (const id of [newWireId(randomBytes), "0".repeat(32), "f".repeat(32)]) {
    expect(isUlid(ulidOfWireId(id))).toBe(true);
    expect(wireIdOfUlid(ulidOfWireId(id))).toBe(id);
  }
});

it("reads 32 hex digits in any case, and a UUID; nothing else", () => {
  const id = "0123456789abcdef0123456789abcdef";
  expect(wireId(id.toUpperCase())).toBe(id);
  expect(wireId("01234567-89ab-cdef-0123-456789ABCDEF")).toBe(id);
  for (const wrong of ["", id.slice(1), `${id}0`, `${id} `, "0123456789abcdef-0123456789abcdef", 7, null])
    expect(wireId(wrong)).toBeUndefined();
});
