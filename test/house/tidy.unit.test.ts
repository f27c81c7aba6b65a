/** Small rules that keep the house easy to read. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { VERSION } from "../../src/base/version.ts";

const root = resolve(import.meta.dirname, "../..");
const filesUnder = (folder: string) =>
  (readdirSync(join(root, folder), { recursive: true }) as string[])
    .filter((file) => /\.tsx?$/.test(file))
    .map((file) => join(folder, file));
const read = (file: string) => readFileSync(join(root, file), "utf8");
/** Without its comments. */
const code = (file: string) => read(file).replace(/^\s*(\*|\/\/|\/\*\*).*$/gm, "");
const sources = filesUnder("src");

describe("sources", () => {
  it("begin with what the file is for", () => {
    expect(sources.filter((file) => !read(file).startsWith("/**"))).toEqual([]);
  });

  it("stay under 450 lines, but for the tables of fields, outputs, limits and errors, which are data", () => {
    const tables = ["protocol/spec-fields.ts", "protocol/errors.ts", "base/limits.ts", "cli/schemas.ts"].map(
      (name) => join("src", name),
    );
    const isLong = (file: string) => read(file).split("\n").length > 450;
    expect(sources.filter((file) => isLong(file) && !tables.includes(file))).toEqual([]);
  });

  it("branch on no sentence for people; the words of other programs are read in one place each", () => {
    const sentence = String.raw`\b(message|suggestion|summary|sentence)\b`;
    const branches = new RegExp(
      String.raw`${sentence}\)?\s*[!=]==\s*["'\x60]\w|${sentence}\??\.(includes|startsWith|endsWith|match|search)\(|/\.test\([\w.()]*${sentence}\)`,
    );
    const foreign = {
      "tree-file/zod-problems.ts": "zod, where a schema has no sentence of its own",
      "tree-file/syntax.ts": "the stack of the engine",
      "store/sqlite/failure.ts": "SQLite",
      "adapters/kinds/gemini-cli/decode.ts": "Gemini CLI, which tells its errors in words alone",
      "adapters/conformance.ts": "holds an adapter to sentences that end with a full stop",
    };
    const found = sources.filter((file) => branches.test(code(file).replace(/typeof \w+/g, "")));
    expect(found.sort()).toEqual(
      Object.keys(foreign)
        .map((file) => join("src", file))
        .sort(),
    );
  });

  it("make members private by the keyword; only the published objects hide theirs from their users", () => {
    const hash = sources.filter((file) => /^\s+(readonly |static |async )*#[a-z]/m.test(read(file)));
    expect(hash.filter((file) => !file.startsWith(join("src", "library")))).toEqual([]);
  });

  it("hold no enum, no console and no TODO", () => {
    expect(sources.filter((file) => /\benum \w+ \{|console\.|\b(TODO|FIXME|XXX)\b/.test(code(file)))).toEqual(
      [],
    );
  });

  it("import zod as a namespace, which leaves the messages of fifty languages out of the bundles", () => {
    expect(sources.filter((file) => /import (type )?\{[^}]*\} from "zod"/.test(read(file)))).toEqual([]);
  });
});

describe("names of types", () => {
  const declared = sources.flatMap((file) =>
    [...code(file).matchAll(/^(?:export )?(?:interface|type|(?:abstract )?class) ([A-Z]\w*)/gm)].map(
      ([, name = ""]) => ({ file, name }),
    ),
  );

  it("stand for one thing each", () => {
    const doors = {
      AgentEvent: "the library's, whose fields its kind tells, and the one that any decoder makes",
      KillOptions: "the library's, in whose terms `effect` takes the runtime's",
      LogRecord: "the library's, with its AgentEvent, and the one of the log",
      RecordType: "of the library's record, and of the log's",
      RuntimeApi: "the runtime as `effect` publishes it, and as the runtime answers",
    };
    const files = Map.groupBy(declared, ({ name }) => name);
    const twice = [...files].filter(([, at]) => new Set(at.map(({ file }) => file)).size > 1);
    expect(twice.map(([name]) => name).sort()).toEqual(Object.keys(doors));
  });

  it("are nouns, and no bare participles", () => {
    const exceptions = ["Answered", "Decoded", "Deed"];
    const participle =
      /^([A-Z][a-z]+ed|Found|Given|Gone|Heard|Held|Kept|Known|Left|Made|Meant|Ran|Read|Said|Seen|Sent|Shown|Spent|Taken|Told|Would)$/;
    expect(
      declared
        .map(({ name }) => name)
        .filter((name) => participle.test(name))
        .sort(),
    ).toEqual(exceptions);
  });
});

describe("tests", () => {
  const tests = filesUnder("test");
  it("say in their suffix what they cost", () => {
    expect(
      tests.filter((file) => file.endsWith(".test.ts") && !/\.(unit|int|e2e|chaos)\.test\.ts$/.test(file)),
    ).toEqual([]);
  });

  it("are neither skipped by hand nor alone", () => {
    const marks = new RegExp(`\\b(it|test|describe)\\.(${["only", "skip", "todo"].join("|")})\\(`);
    expect(tests.filter((file) => marks.test(read(file)))).toEqual([]);
  });
});

it("documents that other documents point to are there", () => {
  const pages = [
    "README.md",
    "CONTRIBUTING.md",
    ...(readdirSync(join(root, "docs"), { recursive: true }) as string[])
      .filter((file) => file.endsWith(".md"))
      .map((file) => join("docs", file)),
  ];
  const broken = pages.flatMap((page) =>
    [...read(page).matchAll(/\]\((?!https?:|#)([^)#\s]+)/g)]
      .map(([, link]) => join(page, "..", link as string))
      .filter((target) => !existsSync(join(root, target)))
      .map((target) => `${page} → ${target}`),
  );
  expect(broken).toEqual([]);
});

it("the version is told once", () => {
  expect(VERSION).toBe(JSON.parse(read("package.json")).version);
});
