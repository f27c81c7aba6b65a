/** Texts that end at a time (weblisk.txt, Data Boundary Contracts: `retention`): what is on the disk before it, after it, and after a kill. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterEach, beforeEach, expect, it } from "vitest";
import { CRASH_VARIABLE } from "../../../src/base/crash-point.ts";
import { SealedVault } from "../../../src/base/files/sealed-vault.ts";
import { SEALED_LOOK_MS, SEALED_MARK_KEEP_MS } from "../../../src/base/limits.ts";

const NOW = Date.now();
const UNTIL = { until_ms: NOW + 1_000, owner: "b.example" };
const anybody = () => true;

let stateDir: string;
let vault: SealedVault;
beforeEach(() => {
  stateDir = mkdtempSync(join(tmpdir(), "holdfast-vault-"));
  vault = new SealedVault(stateDir);
});
afterEach(() => rmSync(stateDir, { recursive: true, force: true }));

const files = () =>
  readdirSync(join(stateDir, "sealed")).map((name) => ({ name, path: join(stateDir, "sealed", name) }));
const written = (): string =>
  files()
    .map(({ path }) => readFileSync(path, "latin1"))
    .join("\n");
const keyOnDisk = (): string => {
  const { path } = files().find(({ name }) => name.endsWith(".key"))!;
  return JSON.parse(readFileSync(path, "utf8")).key;
};

it("a text is readable until its time, over a restart, by its owner alone, and is nowhere in clear", () => {
  expect(vault.seal("task", "secret words", UNTIL, NOW)).toBe("secret words");
  const again = new SealedVault(stateDir);
  expect(again.open("task", NOW + 999)).toBe("secret words");
  expect(again.isOver("task", NOW + 999)).toBe(false);
  expect(again.shred(NOW + 999, anybody)).toBe(0);
  expect(again.open("another task", NOW)).toBeUndefined();
  expect(again.isOver("another task", NOW)).toBe(false);
  expect(written()).not.toContain("secret words");
  for (const { path } of files()) expect(statSync(path).mode & 0o077).toBe(0);
});

it("is kept once: the second text of a name has no effect", () => {
  vault.seal("task", "first", UNTIL, NOW);
  expect(vault.seal("task", "second", UNTIL, NOW)).toBe("first");
});

it("is not read after its time, before anybody has destroyed its key; then the key is gone, and a mark stays for a while", () => {
  vault.seal("task", "secret words", UNTIL, NOW);
  const key = keyOnDisk();
  expect(vault.open("task", NOW + 1_000)).toBeUndefined();
  expect(vault.isOver("task", NOW + 1_000)).toBe(true);
  expect(vault.shred(NOW + 1_000, anybody)).toBe(1);
  expect(written()).not.toContain(key);
  expect(files().map(({ name }) => name.split(".")[1])).toEqual(["json"]);
  expect(vault.isOver("task", NOW + 2_000)).toBe(true);
  expect(vault.shred(NOW + SEALED_MARK_KEEP_MS + 60_000, anybody)).toBe(0);
  expect(files()).toEqual([]);
});

it("ends at once for an owner that is nobody any more", () => {
  vault.seal("task", "secret words", UNTIL, NOW);
  expect(vault.shred(NOW, (owner) => owner !== "b.example")).toBe(1);
  expect(vault.open("task", NOW)).toBeUndefined();
});

it("a text that was changed on the disk, or given another's name, is not read", () => {
  vault.seal("one", "words of one", UNTIL, NOW);
  const [text] = files().filter(({ name }) => name.endsWith(".json"));
  const whole = JSON.parse(readFileSync(text!.path, "utf8"));
  rmSync(text!.path);
  const changed = { ...whole, text: Buffer.from("other words!").toString("base64") };
  spawnSync("sh", ["-c", `cat >"$0"`, text!.path], { input: JSON.stringify(changed) });
  expect(() => vault.open("one", NOW)).toThrow(/authenticate/);
});

const MODULE = (path: string): string =>
  JSON.stringify(pathToFileURL(join(import.meta.dirname, "../../../src", path)).href);
/** Does one call in a process that dies at its n-th step. */
const killedIn = (call: string, at: number): boolean => {
  const program = `
    const { armHere } = await import(${MODULE("base/crash-point.ts")});
    const { SealedVault } = await import(${MODULE("base/files/sealed-vault.ts")});
    armHere(process.env);
    const vault = new SealedVault(${JSON.stringify(stateDir)});
    ${call};`;
  const { signal, status, stderr } = spawnSync(
    process.execPath,
    ["--disable-warning=ExperimentalWarning", "--input-type=module", "-e", program],
    { env: { ...process.env, [CRASH_VARIABLE]: `weblisk-step:${at}` }, encoding: "utf8" },
  );
  if (signal === null) expect(`${status} ${stderr}`).toBe("0 ");
  return signal === "SIGKILL";
};

it("a kill in the middle of the end leaves nothing that a later look does not finish", () => {
  for (let at = 1; ; at += 1) {
    const name = `task ${at}`;
    vault.seal(name, "secret words", UNTIL, NOW);
    const key = keyOnDisk();
    const wasKilled = killedIn(`vault.shred(${NOW + 1_000}, () => true)`, at);
    expect(vault.open(name, NOW + 1_000)).toBeUndefined();
    expect(written(), `the key is overwritten at step ${at}`).not.toContain(key);
    vault.shred(NOW + 1_000, anybody);
    expect(files().every(({ name: file }) => file.endsWith(".json"))).toBe(true);
    expect(files().every(({ path }) => readFileSync(path, "utf8") === "{}\n")).toBe(true);
    expect(vault.isOver(name, NOW + 1_000)).toBe(true);
    if (!wasKilled) {
      expect(at).toBeGreaterThan(3);
      break;
    }
  }
});

it("a kill in the middle of keeping leaves the whole text or none, and no key outlasts the next look", () => {
  for (let at = 1; ; at += 1) {
    const name = `task ${at}`;
    const wasKilled = killedIn(
      `vault.seal(${JSON.stringify(name)}, "secret words", ${JSON.stringify(UNTIL)}, ${NOW})`,
      at,
    );
    expect(["secret words", undefined]).toContain(vault.open(name, NOW));
    expect(vault.seal(name, "secret words", UNTIL, NOW)).toBe("secret words");
    vault.shred(NOW + SEALED_LOOK_MS * 2, anybody);
    expect(files().every(({ path }) => readFileSync(path, "utf8") === "{}\n")).toBe(true);
    if (!wasKilled) {
      expect(at).toBeGreaterThan(2);
      break;
    }
  }
});
