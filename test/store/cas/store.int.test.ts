/** Artifacts on a real disk: what is put is there once, is verified on each read, and is bounded. */
import { readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { CAS_OBJECT_MAX_BYTES } from "../../../src/base/limits.ts";
import { bytesOf, newStore } from "./support.ts";

/** sha256 of "hello", as any other program says it. */
const HELLO = "sha256:2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824";
const pathOf = (directory: string, digest: string) => {
  const hex = digest.slice(7);
  return join(directory, "objects", hex.slice(0, 2), hex.slice(2, 4), hex);
};
const ABSENT = `sha256:${"0".repeat(64)}`;

describe("an artifact that is put", () => {
  it("has the digest of its bytes, and is a file of its owner alone in two levels of directories", async () => {
    const { artifacts, directory } = newStore();
    expect(await artifacts.put(bytesOf("hello"))).toEqual({
      digest: HELLO,
      size_bytes: 5,
      effect: "created",
    });
    const path = pathOf(directory, HELLO);
    expect(readFileSync(path, "utf8")).toBe("hello");
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(statSync(join(path, "..")).mode & 0o777).toBe(0o700);
    expect(statSync(directory).mode & 0o777).toBe(0o700);
    expect(readdirSync(join(directory, "tmp"))).toEqual([]);
  });

  it("is there once, however often and by however many it is put", async () => {
    const { artifacts } = newStore();
    const puts = await Promise.all(Array.from({ length: 20 }, () => artifacts.put(bytesOf("hello"))));
    expect(new Set(puts.map(({ digest }) => digest))).toEqual(new Set([HELLO]));
    expect(await artifacts.put(bytesOf("hello"))).toMatchObject({ effect: "noop" });
    expect(await artifacts.list()).toMatchObject([{ digest: HELLO, size_bytes: 5, pinned: false }]);
  });

  it("counts as put now where somebody is about to name it", async () => {
    const { artifacts, later, collect } = newStore();
    const { digest } = await artifacts.put(bytesOf("hello"));
    later();
    await artifacts.freshen(digest);
    await collect();
    expect(await artifacts.list()).toHaveLength(1);
    later();
    await collect();
    expect(await artifacts.list()).toEqual([]);
  });

  it("gives back any bytes, also none", async () => {
    const { artifacts } = newStore();
    for (const bytes of [new Uint8Array(), Uint8Array.from({ length: 70_000 }, (_, at) => at % 256)]) {
      const { digest } = await artifacts.put(bytes);
      expect(Buffer.compare(await artifacts.get(digest), bytes)).toBe(0);
    }
  });

  it("is not found where it was never put", async () => {
    const { artifacts } = newStore();
    const asked = [
      ...[artifacts.get(ABSENT), artifacts.pin(ABSENT), artifacts.unpin(ABSENT)],
      artifacts.freshen(ABSENT),
    ];
    for (const answer of await Promise.allSettled(asked))
      expect(answer).toMatchObject({ status: "rejected", reason: { code: "ARTIFACT_NOT_FOUND" } });
  });
});

describe("a damaged artifact", () => {
  it.each([
    ["other bytes", (path: string) => writeFileSync(path, "hellO")],
    ["fewer bytes", (path: string) => truncateSync(path, 2)],
    ["more bytes than any artifact", (path: string) => truncateSync(path, CAS_OBJECT_MAX_BYTES + 1)],
  ])("with %s is told and never given, and its file is kept", async (_, damage) => {
    const { artifacts, directory } = newStore();
    await artifacts.put(bytesOf("hello"));
    const path = pathOf(directory, HELLO);
    damage(path);
    const size = statSync(path).size;
    await expect(artifacts.get(HELLO)).rejects.toMatchObject({
      code: "ARTIFACT_DAMAGED",
      info: { details: { digest: HELLO, path } },
    });
    expect(statSync(path).size).toBe(size);
  });

  it("is set aside by a put of what it should have been", async () => {
    const { artifacts, directory } = newStore();
    await artifacts.put(bytesOf("hello"));
    writeFileSync(pathOf(directory, HELLO), "hellO");
    expect(await artifacts.put(bytesOf("hello"))).toMatchObject({ effect: "created" });
    expect(Buffer.from(await artifacts.get(HELLO)).toString()).toBe("hello");
    const [kept] = readdirSync(join(directory, "damaged"));
    expect(readFileSync(join(directory, "damaged", kept as string), "utf8")).toBe("hellO");
  });
});

describe("bounds", () => {
  it("refuse an artifact over its size before anything is written", async () => {
    const { artifacts } = newStore();
    const put = artifacts.put(new Uint8Array(CAS_OBJECT_MAX_BYTES + 1));
    await expect(put).rejects.toMatchObject({ code: "REQUEST_TOO_LARGE" });
    expect(await artifacts.list()).toEqual([]);
  });

  it("refuse one too many, and one byte too many, but never what is there already", async () => {
    const { artifacts } = newStore({ bounds: { objects: 2, bytes: 10 } });
    await artifacts.put(bytesOf("hello"));
    await expect(artifacts.put(bytesOf("world!"))).rejects.toMatchObject({ code: "ARTIFACTS_FULL" });
    await artifacts.put(bytesOf("two"));
    await expect(artifacts.put(bytesOf("3"))).rejects.toMatchObject({ code: "ARTIFACTS_FULL" });
    expect(await artifacts.put(bytesOf("hello"))).toMatchObject({ effect: "noop" });
  });

  it("refuse what would leave less than the floor of free disk", async () => {
    const { artifacts } = newStore({ freeBytes: () => 1_004, floor_bytes: 1_000 });
    await expect(artifacts.put(bytesOf("hello"))).rejects.toMatchObject({ code: "DISK_FULL" });
    expect(await artifacts.put(bytesOf("four"))).toMatchObject({ effect: "created" });
  });

  it("are made room below, once in a while, by what nobody holds and is not fresh", async () => {
    const named = new Set<string>();
    let looks = 0;
    const referenced = async () => {
      looks += 1;
      return named;
    };
    const { artifacts, later } = newStore({ bounds: { objects: 3, bytes: 100 }, referenced });
    const [old, held, pinned] = await Promise.all(
      ["old", "held", "pinned"].map((text) => artifacts.put(bytesOf(text))),
    );
    await artifacts.pin(pinned!.digest);
    named.add(held!.digest);
    const refused = { code: "ARTIFACTS_FULL" };
    await expect(artifacts.put(bytesOf("too soon"))).rejects.toMatchObject(refused);
    later();
    expect(await artifacts.put(bytesOf("new"))).toMatchObject({ effect: "created" });
    expect(looks).toBe(1);
    await expect(artifacts.put(bytesOf("more"))).rejects.toMatchObject(refused);
    expect(looks).toBe(1);
    await expect(artifacts.get(old!.digest)).rejects.toMatchObject({ code: "ARTIFACT_NOT_FOUND" });
    expect(await artifacts.list()).toHaveLength(3);
  });

  it("refuse, and nothing goes, where nobody can say what records name", async () => {
    const referenced = () => Promise.reject(new Error("the log cannot be read"));
    const { artifacts, later } = newStore({ bounds: { objects: 1, bytes: 100 }, referenced });
    await artifacts.put(bytesOf("old"));
    later();
    await expect(artifacts.put(bytesOf("new"))).rejects.toMatchObject({ code: "ARTIFACTS_FULL" });
    expect(await artifacts.list()).toHaveLength(1);
  });

  it("are looked at once for all that are put at the same time", async () => {
    const { artifacts } = newStore({ bounds: { objects: 20, bytes: 100 } });
    const puts = Array.from({ length: 20 }, (_, at) => artifacts.put(bytesOf(`${at}`)));
    await Promise.all(puts);
    await expect(artifacts.put(bytesOf("one more"))).rejects.toMatchObject({
      info: { details: { objects: 20 } },
    });
  });

  it("hold over what others have put, once it is counted again", async () => {
    const bounds = { objects: 1, bytes: 100 };
    const store = newStore({ bounds });
    const other = newStore({ bounds, directory: store.directory });
    await other.artifacts.put(bytesOf("hello"));
    await expect(store.artifacts.put(bytesOf("world"))).rejects.toMatchObject({ code: "ARTIFACTS_FULL" });
  });
});

it("a directory that may not be used is a typed error", async () => {
  const { artifacts, directory } = newStore();
  writeFileSync(directory, "a file is in its place");
  await expect(artifacts.put(bytesOf("hello"))).rejects.toMatchObject({ code: "STORE_FAILED" });
});

describe("pins", () => {
  it("are made and taken off, and say what they changed", async () => {
    const { artifacts } = newStore();
    await artifacts.put(bytesOf("hello"));
    expect(await artifacts.pin(HELLO)).toBe("created");
    expect(await artifacts.pin(HELLO)).toBe("noop");
    expect(await artifacts.list()).toMatchObject([{ pinned: true }]);
    expect(await artifacts.unpin(HELLO)).toBe("deleted");
    expect(await artifacts.unpin(HELLO)).toBe("noop");
  });
});
