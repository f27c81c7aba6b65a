/** The files of defaults on disk: what is read, what is refused, and what a change leaves as it was. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { CONFIGURATION_MAX_BYTES, REPOSITORY_LEVELS_MAX } from "../../../src/base/limits.ts";
import { findRepositoryFile, repositoryFilePlace } from "../../../src/cli/defaults/find.ts";
import { changeDefault, readDefaults } from "../../../src/cli/defaults/written.ts";

let dir: string;
let path: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "holdfast-defaults-"));
  path = join(dir, "config.yaml");
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const read = (source: "user" | "repository", text: string) => {
  writeFileSync(path, text);
  const { written, problems } = readDefaults([{ path, source }]);
  return [
    written.map(({ name, kind, value }) => [name, kind, value]),
    problems.map((one) => one.replace(path, "F")),
  ];
};

it("the user's other keys are the daemon's", () => {
  expect(
    read("user", "http: 7\ndefaults: { timeout: 5m }\nkinds: { claude: { allow_mcp_write: 3, model: m } }\n"),
  ).toEqual([
    [
      ["timeout", undefined, 300_000],
      ["model", "claude", "m"],
    ],
    [],
  ]);
});

it("a repository's other keys are refused, each by its name", () => {
  const may = "it may write model, permission, sandbox, worktree, timeout, below defaults or kinds.KIND";
  expect(
    read("repository", "binaries: {}\nkinds: { claude: { allow_mcp_write: true, model: m } }\n"),
  ).toEqual([
    [["model", "claude", "m"]],
    [
      `F: a repository may not write binaries; ${may}`,
      `F: a repository may not write kinds.claude.allow_mcp_write; ${may}`,
    ],
  ]);
});

it.each([
  ["a: [", "F cannot be read: Flow sequence in block collection must be sufficiently indented"],
  ["[1]", "F cannot be read: it holds no keys and values"],
  ["defaults: 7", "F: defaults holds keys and values"],
  ["defaults: { sandbox: on }", 'F: defaults.sandbox is one of workspace, off, not "on"'],
  ["#".repeat(CONFIGURATION_MAX_BYTES + 1), `F cannot be read: it is over ${CONFIGURATION_MAX_BYTES} bytes`],
])("%.20s is told in a sentence", (text, problem) => {
  for (const source of ["user", "repository"] as const) {
    const [written, [first]] = read(source, text) as [unknown[], string[]];
    expect([written, first?.startsWith(problem)]).toEqual([[], true]);
  }
});

it("a repository's file that is a link is not followed, and a user's is", () => {
  writeFileSync(join(dir, "elsewhere"), "defaults: { model: m }\n");
  symlinkSync("elsewhere", path);
  expect(readDefaults([{ path, source: "repository" }])).toEqual({
    written: [],
    problems: [`${path} cannot be read: it is no regular file`],
  });
  expect(readDefaults([{ path, source: "user" }]).written).toHaveLength(1);
});

describe("a change", () => {
  const file = () => ({ path, source: "user" as const });
  const text = () => readFileSync(path, "utf8");

  it("keeps comments, order and every other key", () => {
    writeFileSync(
      path,
      "# mine\nhttp:   # the API\n  listen: 7433\nkinds:\n  claude: { allow_mcp_write: true } # yes\n",
    );
    expect(changeDefault(file(), { name: "model", kind: "claude_code", value: "m", text: "m" })).toBe(
      "created",
    );
    expect(changeDefault(file(), { name: "worktree", kind: undefined, value: true, text: true })).toBe(
      "created",
    );
    // A comment behind a key whose value begins on the next line moves there.
    expect(text()).toBe(
      "# mine\nhttp:\n  # the API\n  listen: 7433\nkinds:\n  claude: { allow_mcp_write: true, model: m } # yes\ndefaults:\n  worktree: true\n",
    );
  });

  it("says what it did, and removes what it has emptied", () => {
    const change = { name: "timeout", kind: undefined, value: 60_000, text: "1m" } as const;
    expect(changeDefault(file(), change)).toBe("created");
    expect(changeDefault(file(), { ...change, text: "60s" })).toBe("noop");
    expect(changeDefault(file(), { ...change, value: 1, text: "1ms" })).toBe("updated");
    expect(changeDefault(file(), { name: "timeout", kind: undefined })).toBe("deleted");
    expect(changeDefault(file(), { name: "timeout", kind: undefined })).toBe("noop");
    expect(text()).toBe("");
  });

  it("goes through a link, and leaves a file alone that is no YAML", () => {
    writeFileSync(join(dir, "dotfiles"), "# kept\n");
    symlinkSync("dotfiles", path);
    changeDefault(file(), { name: "model", kind: undefined, value: "m", text: "m" });
    expect(readFileSync(join(dir, "dotfiles"), "utf8")).toContain("model: m");
    writeFileSync(path, "a: [");
    expect(() => changeDefault(file(), { name: "model", kind: undefined, value: "m", text: "m" })).toThrow(
      "cannot be read",
    );
    expect(text()).toBe("a: [");
  });
});

describe("the repository's file", () => {
  const make = (...parts: string[]) => {
    const made = join(dir, ...parts);
    mkdirSync(made, { recursive: true });
    return made;
  };
  const write = (at: string) => {
    mkdirSync(join(at, ".holdfast"), { recursive: true });
    writeFileSync(join(at, ".holdfast", "config.yaml"), "");
    return join(at, ".holdfast", "config.yaml");
  };

  it("is the nearest one up to the top of the repository, and no further", () => {
    const below = make("repository", "a", "b");
    write(dir);
    expect(findRepositoryFile(below)).toBeUndefined();
    expect(repositoryFilePlace(below)).toBeUndefined();
    make("repository", ".git");
    expect(findRepositoryFile(below)).toBeUndefined();
    expect(repositoryFilePlace(below)).toBe(join(dir, "repository", ".holdfast", "config.yaml"));
    const top = write(join(dir, "repository"));
    expect(findRepositoryFile(below)).toBe(top);
    expect(findRepositoryFile(join(dir, "repository"))).toBe(top);
    expect(findRepositoryFile(below)).not.toBe(write(join(dir, "repository", "a")));
  });

  it(`is not searched over more than ${REPOSITORY_LEVELS_MAX} directories`, () => {
    make(".git");
    const file = write(dir);
    const levels = Array.from({ length: REPOSITORY_LEVELS_MAX }, () => "d");
    expect(findRepositoryFile(join(dir, ...levels.slice(1)))).toBe(file);
    expect(findRepositoryFile(join(dir, ...levels))).toBeUndefined();
  });
});
