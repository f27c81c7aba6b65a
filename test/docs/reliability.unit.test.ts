/** docs/reference/reliability.md is what the table of promises generates, and every proof that it names is there. */
import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { PROMISES } from "../promises.ts";
import { merged, summed } from "./reliability.ts";

const root = resolve(import.meta.dirname, "../..");
const told = { promise: "R1", full: false, rounds: 10, failures: 0, note: "kills" };
const today = { date: "2026-01-02", commit: "b" };

describe("docs/reference/reliability.md", () => {
  it("has all its promises, each with a test or with the reason why there is none", () => {
    expect(PROMISES.map(({ id }) => id)).toEqual(Array.from({ length: 44 }, (_, n) => `R${n + 1}`));
    expect(PROMISES.filter(({ proofs, open }) => proofs.length === 0 && open === undefined)).toEqual([]);
  });

  it.each(PROMISES.flatMap(({ id, proofs }) => proofs.map(({ file, title }) => ({ id, file, title }))))(
    "$id: $file has its test",
    ({ file, title }) => {
      expect(existsSync(join(root, file)), file).toBe(true);
      const source = readFileSync(join(root, file), "utf8");
      expect(
        ['"', "`"].some((quote) => source.includes(`${quote}${title}${quote}`)),
        title,
      ).toBe(true);
    },
  );
});

describe("figures", () => {
  it("of the parts of one measure are one: rounds are summed, the worst time stands", () => {
    expect(
      summed([
        { ...told, p99_ms: 5 },
        { ...told, failures: 1, p99_ms: 3 },
      ]),
    ).toEqual([{ ...told, rounds: 20, failures: 1, p50_ms: undefined, p99_ms: 5 }]);
  });

  it("of one measure are told by its words, whatever numbers are in them", () => {
    const old = [{ ...told, note: "0 of 500 lost", date: "2026-01-01", commit: "a" }];
    expect(merged(old, [{ ...told, note: "0 of 1,234.5 lost" }], today)).toMatchObject([
      { note: "0 of 1,234.5 lost", commit: "b" },
    ]);
  });

  it("that are newer stand, but a full one is not replaced by a scaled one", () => {
    const old = [
      { ...told, date: "2026-01-01", commit: "a" },
      { ...told, note: "full", full: true, date: "2026-01-01", commit: "a" },
    ];
    const next = merged(old, [told, { ...told, note: "full" }, { ...told, note: "new" }], today);
    expect(next.map(({ note, commit }) => [note, commit])).toEqual([
      ["full", "a"],
      ["kills", "b"],
      ["new", "b"],
    ]);
  });
});
