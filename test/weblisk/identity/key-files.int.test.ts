import { execFile, execFileSync } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { publicTextOf } from "../../../src/weblisk/identity/algorithms.ts";
import {
  ensureIdentity,
  keyDirectory,
  ORCHESTRATOR,
  readIdentity,
  rotateIdentity,
} from "../../../src/weblisk/identity/key-files.ts";

let home: string;
let folder: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "holdfast-identity-"));
  folder = keyDirectory(home, ORCHESTRATOR);
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

const at = (name: string): string => join(folder, name);
const make = () => publicTextOf(ensureIdentity(home, ORCHESTRATOR).key);
const read = () => publicTextOf(readIdentity(home, ORCHESTRATOR)!.key);
const HOW = { algorithm: "Ed25519", timestamp: 1_713_264_000, nonce: "0".repeat(32) } as const;
const rotate = () => rotateIdentity(home, ORCHESTRATOR, HOW).rotation;

it("is made once, in the form of the document, for its owner alone", () => {
  expect(readIdentity(home, ORCHESTRATOR)).toBeUndefined();
  const made = ensureIdentity(home, ORCHESTRATOR);
  expect(made.isNew).toBe(true);
  expect(statSync(folder).mode & 0o777).toBe(0o700);
  expect(statSync(at("private.key"))).toMatchObject({ size: 64, mode: 0o100600 });
  expect(readFileSync(at("public.key"))).toEqual(made.key.publicKey);
  expect(ensureIdentity(home, ORCHESTRATOR)).toMatchObject({ isNew: false });
  expect(read()).toBe(publicTextOf(made.key));
  expect(readdirSync(folder).toSorted()).toEqual(["private.key", "public.key"]);
});

it("of an agent has a folder and a key of its own", () => {
  const own = make();
  const theirs = ensureIdentity(home, "reviewer");
  expect(theirs.directory).toBe(join(folder, "reviewer"));
  expect(publicTextOf(theirs.key)).not.toBe(own);
});

it("is the same one for processes that make it at once", async () => {
  const source = resolve(import.meta.dirname, "../../../src/weblisk/identity");
  const script = `import { ensureIdentity } from ${JSON.stringify(join(source, "key-files.ts"))};
    import { publicTextOf } from ${JSON.stringify(join(source, "algorithms.ts"))};
    console.log(publicTextOf(ensureIdentity(${JSON.stringify(home)}, "orchestrator").key));`;
  const argv = ["--input-type=module-typescript", "--eval", script];
  const run = () => promisify(execFile)(process.execPath, argv);
  const keys = await Promise.all(Array.from({ length: 4 }, run));
  expect(new Set(keys.map(({ stdout }) => stdout)).size).toBe(1);
});

describe("it reads", () => {
  it.each([
    ["128 hex digits", (bytes: Buffer) => Buffer.from(`${bytes.toString("hex")}\n`)],
    ["a seed alone", (bytes: Buffer) => bytes.subarray(0, 32)],
  ])("%s", (_, written) => {
    const key = make();
    writeFileSync(at("private.key"), written(readFileSync(at("private.key"))));
    expect(read()).toBe(key);
  });

  it("a folder without public.key, and writes it again", () => {
    const key = make();
    rmSync(at("public.key"));
    expect(read()).toBe(key);
    expect(existsSync(at("public.key"))).toBe(true);
  });
});

describe("it refuses", () => {
  const denied = (message: RegExp) =>
    expect.objectContaining({ code: "PERMISSION_DENIED", message: expect.stringMatching(message) });
  it.each([
    ["a key that others can read", /can be read by others/, () => chmodSync(at("private.key"), 0o640)],
    [
      "a public key of somebody else",
      /is not the one of private\.key/,
      () => writeFileSync(at("public.key"), Buffer.alloc(32, 1)),
    ],
    [
      "a link in the place of the key",
      /is no regular file/,
      () => {
        renameSync(at("private.key"), join(home, "elsewhere"));
        symlinkSync(join(home, "elsewhere"), at("private.key"));
      },
    ],
    [
      "a FIFO in its place",
      /is no regular file/,
      () => {
        rmSync(at("private.key"));
        execFileSync("mkfifo", [at("private.key")]);
      },
    ],
    [
      "a file of another length",
      /has 63 bytes, which is no key/,
      () => writeFileSync(at("private.key"), Buffer.alloc(63)),
    ],
    [
      "a seed with the public key of another one",
      /does not fit/,
      () => writeFileSync(at("private.key"), Buffer.alloc(64, 1)),
    ],
  ])("%s", (_, message, spoil) => {
    make();
    spoil();
    expect(read).toThrow(denied(message));
    // Nothing is made in its place.
    expect(make).toThrow(denied(message));
  });
});

describe("a rotation", () => {
  it("leaves the new key and the statement, and nothing of the old private key", () => {
    const before = make();
    const old = readFileSync(at("private.key"));
    const statement = rotate();
    expect(statement.old_public_key).toBe(before);
    expect(read()).toBe(statement.new_public_key);
    expect(JSON.parse(readFileSync(at("rotation.json"), "utf8"))).toEqual(statement);
    expect(readdirSync(folder).toSorted()).toEqual(["private.key", "public.key", "rotation.json"]);
    for (const name of readdirSync(folder))
      expect(readFileSync(at(name)).includes(old.subarray(0, 32))).toBe(false);
  });

  it("to another algorithm is signed by a key of each", () => {
    make();
    const { rotation: statement } = rotateIdentity(home, ORCHESTRATOR, { ...HOW, algorithm: "ML-DSA-65" });
    expect(statement).toMatchObject({ old_algorithm: "Ed25519", new_algorithm: "ML-DSA-65" });
    expect(readIdentity(home, ORCHESTRATOR)!.key.algorithm.name).toBe("ML-DSA-65");
  });

  const DRAFT = `private.key.${"0".repeat(32)}`;
  /** It began a minute ago. */
  const age = () => utimesSync(at("rotation.json.begun"), Date.now() / 1_000 - 60, Date.now() / 1_000 - 60);
  /** The folder as a kill leaves it: before or after the one rename that decides. */
  const killed = (isDone: boolean) => {
    const before = make();
    copyFileSync(at("private.key"), join(home, "old.key"));
    copyFileSync(at("public.key"), join(home, "old.pub"));
    const statement = rotate();
    writeFileSync(at("rotation.json.begun"), JSON.stringify(statement));
    rmSync(at("rotation.json"));
    copyFileSync(join(home, "old.pub"), at("public.key"));
    if (!isDone) {
      copyFileSync(at("private.key"), at(DRAFT));
      copyFileSync(join(home, "old.key"), at("private.key"));
    }
    return { before, after: statement.new_public_key };
  };

  it("that was killed before it took effect has not happened", () => {
    const { before } = killed(false);
    age();
    expect(read()).toBe(before);
    expect(readdirSync(folder).toSorted()).toEqual(["private.key", "public.key"]);
  });

  it("that was killed after it took effect is ended by the next reader", () => {
    const { after } = killed(true);
    expect(read()).toBe(after);
    expect(readdirSync(folder).toSorted()).toEqual(["private.key", "public.key", "rotation.json"]);
    expect(read()).toBe(after);
  });

  it("that is at work is disturbed by no reader, and by no other one", () => {
    const { before } = killed(false);
    expect(read()).toBe(before);
    expect(existsSync(at(DRAFT))).toBe(true);
    const other = { ...HOW, nonce: "1".repeat(32) };
    expect(() => rotateIdentity(home, ORCHESTRATOR, other)).toThrow(
      expect.objectContaining({ code: "INVALID_STATE" }),
    );
    expect(readdirSync(folder).toSorted()).toEqual(
      ["private.key", DRAFT, "public.key", "rotation.json.begun"].toSorted(),
    );
  });

  it("of which only a part is on the disk has not happened", () => {
    const before = make();
    writeFileSync(at("rotation.json.begun"), '{"op":"rot');
    age();
    expect(read()).toBe(before);
    expect(rotate().old_public_key).toBe(before);
  });

  it("that somebody wrote beside a foreign key ends nothing", () => {
    const { before } = killed(false);
    copyFileSync(at(DRAFT), join(home, "new.key"));
    age();
    expect(read()).toBe(before);
    copyFileSync(join(home, "new.key"), at("private.key"));
    expect(read).toThrow(/is not the one of private\.key/);
  });
});
