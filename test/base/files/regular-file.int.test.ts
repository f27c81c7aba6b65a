/** A file that somebody names is read at once or refused at once: nothing waits for a writer, and nothing is read for ever. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readNamed, readSecretFile } from "../../../src/base/files/regular-file.ts";
import { readConfiguration } from "../../../src/daemon/configuration.ts";

let dir: string;
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), "holdfast-named-"));
  execFileSync("mkfifo", [join(dir, "fifo"), join(dir, "config.yaml")]);
  symlinkSync("/dev/zero", join(dir, "zero"));
  writeFileSync(join(dir, "text"), "hello");
  symlinkSync("text", join(dir, "link"));
});
afterAll(() => rmSync(dir, { recursive: true }));

describe("a file that is named", () => {
  it("is read, through a link too, up to its bound", () => {
    const read = (name: string, max: number) => readNamed(join(dir, name), max)?.toString();
    expect([read("text", 5), read("link", 5), read("text", 4)]).toEqual(["hello", "hello", undefined]);
  });
  it.each(["fifo", "zero"])("is refused where it is no regular file: %s", (name) => {
    expect(() => readNamed(join(dir, name), 10)).toThrow(`${join(dir, name)} is no regular file`);
  });
  it("is refused where it is a directory, or a socket", async () => {
    expect(() => readNamed(dir, 10)).toThrow("is a directory");
    const server = createServer().listen(join(dir, "socket"));
    await new Promise((resolve) => server.once("listening", resolve));
    expect(() => readNamed(join(dir, "socket"), 10)).toThrow("ENXIO");
    server.close();
  });
  it("is refused as a secret, and as the configuration of a daemon", async () => {
    await expect(readSecretFile(10)(join(dir, "fifo"))).rejects.toThrow("is no regular file");
    await expect(readSecretFile(4)(join(dir, "text"))).rejects.toThrow("is over 4 bytes");
    expect(readConfiguration(dir)?.problems).toEqual([
      `it cannot be read: ${join(dir, "config.yaml")} is no regular file`,
    ]);
  });
});
