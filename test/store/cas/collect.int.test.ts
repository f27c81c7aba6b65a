/** A collection: the artifacts that it removes, those that it never does, and the winner where somebody puts or pins at the same time. */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { CAS_FRESH_MS } from "../../../src/base/limits.ts";
import { openArtifacts } from "../../../src/store/cas/store.ts";
import { bytesOf, newStore } from "./support.ts";

describe("a collection", () => {
  it("removes what is old, and neither what is pinned nor what a record names", async () => {
    const { artifacts, later, collect } = newStore();
    const [old, pinned, named] = await Promise.all(
      ["old", "pinned", "named"].map((text) => artifacts.put(bytesOf(text))),
    );
    await artifacts.pin(pinned!.digest);
    later();
    const fresh = await artifacts.put(bytesOf("fresh"));
    const referenced = async () => new Set([named!.digest]);
    const expected = { objects: 1, bytes: 3, pinned: 1, referenced: 1 };
    expect(await collect({ referenced, dry_run: true })).toEqual(expected);
    expect(await artifacts.list()).toHaveLength(4);
    expect(await collect({ referenced })).toEqual(expected);
    await expect(artifacts.get(old!.digest)).rejects.toMatchObject({ code: "ARTIFACT_NOT_FOUND" });
    const left = new Set((await artifacts.list()).map(({ digest }) => digest));
    expect(left).toEqual(new Set([pinned!.digest, named!.digest, fresh.digest]));
  });

  it("keeps what is fresh, whatever is asked: a record may be on its way to name it", async () => {
    const { artifacts, later, collect } = newStore();
    await artifacts.put(bytesOf("hello"));
    later(CAS_FRESH_MS - 1);
    expect(await collect({ older_than_ms: 0 })).toMatchObject({ objects: 0 });
  });

  it("counts from the newest put of the same content", async () => {
    const { artifacts, later, collect } = newStore();
    await artifacts.put(bytesOf("hello"));
    later();
    await artifacts.put(bytesOf("hello"));
    expect(await collect()).toMatchObject({ objects: 0 });
    later();
    expect(await collect({ older_than_ms: 5 * CAS_FRESH_MS })).toMatchObject({ objects: 0 });
    expect(await collect()).toMatchObject({ objects: 1 });
  });

  it("removes nothing where nobody can say what records name", async () => {
    const { artifacts, later, collect } = newStore();
    await artifacts.put(bytesOf("hello"));
    later();
    const referenced = () => Promise.reject(new Error("the log cannot be read"));
    await expect(collect({ referenced })).rejects.toThrow("the log cannot be read");
    expect(await artifacts.list()).toHaveLength(1);
  });
});

describe("a change that comes between", () => {
  it.each(["chosen", "moved"] as const)("puts it after it was %s: it is there", async (step) => {
    const { artifacts, later, collect } = newStore();
    const { digest } = await artifacts.put(bytesOf("hello"));
    later();
    const between = async (now: string) => {
      if (now === step) await artifacts.put(bytesOf("hello"));
    };
    await collect({ between });
    expect(Buffer.from(await artifacts.get(digest)).toString()).toBe("hello");
  });

  it.each(["chosen", "moved"] as const)("pins it after it was %s: it stays", async (step) => {
    const { artifacts, later, collect } = newStore();
    const { digest } = await artifacts.put(bytesOf("hello"));
    later();
    const between = async (now: string) => {
      if (now === step) expect(await artifacts.pin(digest)).toBe("created");
    };
    expect(await collect({ between })).toMatchObject({ objects: 0 });
    expect(await artifacts.list()).toMatchObject([{ digest, pinned: true }]);
  });

  it("reads it while it is in the trash", async () => {
    const { artifacts, later, collect } = newStore();
    const { digest } = await artifacts.put(bytesOf("hello"));
    later();
    let read = "";
    const between = async (now: string) => {
      if (now === "moved") read = Buffer.from(await artifacts.get(digest)).toString();
    };
    await collect({ between });
    expect(read).toBe("hello");
  });

  it("collects too: both go on to the end", async () => {
    const { artifacts, later, collect } = newStore();
    for (const text of ["a", "b", "c", "d"]) await artifacts.put(bytesOf(text));
    later();
    const reports = await Promise.all([collect(), collect()]);
    expect(reports[0].objects + reports[1].objects).toBe(4);
    expect(await artifacts.list()).toEqual([]);
  });
});

it("the next collection puts right objects that a crash left in the trash or half written", async () => {
  const { artifacts, directory, later, collect } = newStore();
  const { digest } = await artifacts.put(bytesOf("hello"));
  later();
  const crash = async (step: string) => {
    if (step === "moved") throw new Error("crash");
  };
  await expect(collect({ between: crash })).rejects.toThrow("crash");
  expect(readdirSync(join(directory, "trash"))).toHaveLength(1);
  // Another process that knows nothing of it reads it, and pins it.
  const other = openArtifacts({ directory, freeBytes: () => undefined });
  expect(Buffer.from(await other.get(digest)).toString()).toBe("hello");
  expect(await other.pin(digest)).toBe("created");
  later();
  expect(await collect()).toMatchObject({ objects: 0, pinned: 1 });
  expect(readdirSync(join(directory, "trash"))).toEqual([]);
});
