import { expect, it } from "vitest";
import { isUlid } from "../../src/protocol/forms.ts";
import { newId } from "../../src/protocol/ids.ts";

it("ids made in the same millisecond are strictly increasing ULIDs", () => {
  const ids = Array.from({ length: 1_000 }, () => newId(1_790_000_000_000));
  expect(ids.every(isUlid)).toBe(true);
  expect([...new Set(ids)].sort()).toEqual(ids);
});

it("ids go on increasing when the clock goes back", () => {
  const before = newId(1_800_000_000_000);
  expect(newId(1_700_000_000_000) > before).toBe(true);
});

it.each([
  "",
  "01HNZX8JGFACFA36RBXDHEQN6",
  "01hnzx8jgfacfa36rbxdheqn6e",
  "81HNZX8JGFACFA36RBXDHEQN6E",
  "01HNZX8JGFACFA36RBXDHEQN6U",
  "01HNZX8JGFACFA36RBXDHEQN6E\n",
])("%j is no ULID", (text) => expect(isUlid(text)).toBe(false));
