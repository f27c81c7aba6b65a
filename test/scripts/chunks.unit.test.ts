/** Which pieces of code become one file of the package. */
import { expect, test } from "vitest";
import { joined, type Piece } from "../../scripts/chunks.ts";

/** A program, and code that programs load. */
const program = (name: string, ...imports: readonly string[]): Piece => ({
  name,
  bytes: 100,
  imports,
  packages: [],
  weight: 1,
});
const code = (name: string, bytes: number, ...imports: readonly string[]): Piece => ({
  name,
  bytes,
  imports,
  packages: [],
});

const filesOf = (pieces: readonly Piece[]): readonly (readonly string[])[] =>
  Object.values(Object.groupBy(joined(pieces).entries(), ([, group]) => group)).map((each) =>
    each!.map(([name]) => name).sort(),
  );

test("small pieces that the same programs load become one file; those who begin programs stay alone", () => {
  const pieces = [program("a", "x", "y"), program("b", "x", "y"), code("x", 50), code("y", 50)];
  expect(filesOf(pieces)).toEqual([["x", "y"]]);
});

test("a piece of a few bytes joins one of all programs, and a large one of one program does not", () => {
  const pieces = [
    ...["a", "b", "c"].map((name) => program(name, "all", "most")),
    program("d", "all"),
    program("e", "all", "large"),
    code("all", 1_000),
    code("most", 1_000),
    code("large", 20_000),
  ];
  expect(filesOf(pieces)).toEqual([["all", "most"], ["large"]]);
});

test("no program loads much in vain, however many others would save a file", () => {
  const many = Array.from({ length: 50 }, (_, index) => program(`many${index}`, "small", "schemas"));
  const pieces = [...many, program("thin", "small"), code("small", 1_000), code("schemas", 26_000)];
  expect(filesOf(pieces)).toEqual([["small"], ["schemas"]]);
});

test("two pieces with a program between them do not become a circle", () => {
  const pieces = [program("a", "first"), code("first", 10, "b"), program("b", "third"), code("third", 10)];
  const groups = joined(pieces);
  expect(groups.get("first")).not.toBe(groups.get("third"));
});

test("a piece that needs a package stays apart from one that needs none", () => {
  const pieces = [
    program("a", "x", "y"),
    program("b", "x", "y"),
    code("x", 50),
    { ...code("y", 50), packages: ["effect"] },
  ];
  expect(filesOf(pieces)).toEqual([["x"], ["y"]]);
});
