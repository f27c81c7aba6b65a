import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { publicTextOf } from "../../../src/weblisk/identity/algorithms.ts";
import { KeptKeys } from "../../../src/weblisk/identity/kept-keys.ts";
import { ensureIdentity, keyDirectory, rotateIdentity } from "../../../src/weblisk/identity/key-files.ts";
import { newId } from "../support/agent.ts";

it("gives the same key while its file is the same, makes a missing one, and sees another", () => {
  const stateDir = mkdtempSync(join(tmpdir(), "holdfast-keys-"));
  onTestFinished(() => rmSync(stateDir, { recursive: true }));
  const keys = new KeptKeys(stateDir);
  const first = keys.of("clerk");
  expect(publicTextOf(first)).toBe(publicTextOf(ensureIdentity(stateDir, "clerk").key));
  expect(keys.of("clerk")).toBe(keys.of("clerk"));
  const { key } = rotateIdentity(stateDir, "clerk", { timestamp: 1_800_000_000, nonce: newId() });
  expect(publicTextOf(keys.of("clerk"))).toBe(publicTextOf(key));
  rmSync(keyDirectory(stateDir, "clerk"), { recursive: true });
  expect(publicTextOf(keys.of("clerk"))).not.toBe(publicTextOf(key));
});
