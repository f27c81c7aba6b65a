/** `agent cas …` as people and programs use it: on the files, with no daemon anywhere. */
import { spawnSync } from "node:child_process";
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { EnvelopeV1, ResponseEnvelope } from "../../src/protocol/envelope-schemas.ts";
import { AGENT } from "../support/built.ts";
import { type AgentOptions, agent } from "./support/agent.ts";

let dir: string;
let file: string;
beforeAll(() => void process.setMaxListeners(0));
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "holdfast-cas-cli-"));
  file = join(dir, "report.txt");
  writeFileSync(file, "hello");
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const HELLO = "sha256:2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824";
const ABSENT = `sha256:${"0".repeat(64)}`;
const state = () => join(dir, "state");
const cas = (...argv: string[]) => agent(["--state-dir", state(), "cas", ...argv]);
const json = async (argv: readonly string[], options?: AgentOptions) => {
  const ran = await agent(["-o", "json", "--state-dir", state(), "cas", ...argv], options);
  const { data, error } = ResponseEnvelope.parse(JSON.parse(ran.stdout));
  return { exit: ran.exit, data, error };
};
/** As if it had been put two hours ago. */
const age = (digest: string) => {
  const hex = digest.slice(7);
  const ago = Date.now() / 1000 - 7_200;
  utimesSync(join(state(), "cas", "objects", hex.slice(0, 2), hex.slice(2, 4), hex), ago, ago);
};

it("a file is put and given back, and no daemon is started for it", async () => {
  expect(await cas("put", file, "-o", "text")).toMatchObject({ exit: 0, stdout: `${HELLO}\n`, stderr: "" });
  expect(await json(["put", file])).toMatchObject({ data: { digest: HELLO, size_bytes: 5, effect: "noop" } });
  // Bytes, also where stdout is no terminal; hex alone is a digest too.
  expect(await cas("get", HELLO.slice(7))).toMatchObject({ exit: 0, stdout: "hello" });
  expect(await json(["get", HELLO])).toMatchObject({
    data: { digest: HELLO, size_bytes: 5, base64: "aGVsbG8=" },
  });
  expect(readdirSync(state())).toEqual(["cas"]);
});

it("HOLDFAST_OUTPUT is heard by an artifact, and by no completion script, which is eval'ed", async () => {
  await cas("put", file);
  const env = { HOLDFAST_OUTPUT: "json" };
  const { stdout } = await agent(["--state-dir", state(), "cas", "get", HELLO], { env });
  expect(JSON.parse(stdout)).toMatchObject({ ok: true, data: { base64: "aGVsbG8=" } });
  expect((await agent(["completion", "bash"], { env })).stdout).toMatch(/^complete /m);
});

it("any bytes go to a file as they came in", async () => {
  const bytes = Buffer.from(Uint8Array.from({ length: 100_000 }, (_, at) => (at * 7) % 256));
  writeFileSync(file, bytes);
  const digest = (await cas("put", file, "-o", "text")).stdout.trim();
  const out = join(dir, "copy");
  expect(await json(["get", digest, "--out", out])).toMatchObject({
    exit: 0,
    data: { size_bytes: 100_000, out },
  });
  expect(readFileSync(out).equals(bytes)).toBe(true);
});

describe("a file that is written anew", () => {
  const text = "line\n".repeat(50_000);
  const out = () => join(dir, "copy");
  const putText = async () => {
    writeFileSync(file, text);
    writeFileSync(out(), "before", { mode: 0o640 });
    return (await cas("put", file, "-o", "text")).stdout.trim();
  };

  it("keeps its mode, its other name, and leaves nothing beside it", async () => {
    const digest = await putText();
    symlinkSync(out(), join(dir, "link"));
    expect(await json(["get", digest, "--out", join(dir, "link")])).toMatchObject({ exit: 0 });
    expect(readFileSync(out(), "utf8")).toBe(text);
    expect(statSync(out()).mode & 0o777).toBe(0o640);
    expect(readdirSync(dir).sort()).toEqual(["copy", "link", "report.txt", "state"]);
  });

  it("stays as it was where there is no room for the new one", async () => {
    const argv = ["--state-dir", state(), "cas", "get", await putText(), "--out", out()];
    const { status, stderr } = spawnSync(
      "sh",
      ["-c", 'ulimit -f 64 && exec "$@"', "sh", process.execPath, AGENT, ...argv],
      { encoding: "utf8" },
    );
    expect({ status, stderr }).toEqual({ status: 7, stderr: expect.stringContaining("EFBIG") });
    expect(readFileSync(out(), "utf8")).toBe("before");
    expect(readdirSync(dir).sort()).toEqual(["copy", "report.txt", "state"]);
  });

  it("is no device: that is written to as it is", async () => {
    expect(await json(["get", await putText(), "--out", "/dev/null"])).toMatchObject({ exit: 0 });
    expect(statSync("/dev/null").isCharacterDevice()).toBe(true);
  });

  it("is no FIFO that nobody reads: that is refused at once", async () => {
    const digest = await putText();
    rmSync(out());
    spawnSync("mkfifo", [out()]);
    expect(await json(["get", digest, "--out", out()])).toMatchObject({
      error: { code: "INVALID_REQUEST", message: `${out()} is a pipe without a reader, or a socket.` },
    });
  });
});

it("stdin is put with -", async () => {
  expect(await json(["put", "-"], { stdin: "hello" })).toMatchObject({ data: { digest: HELLO } });
  expect(await json(["put", "-"])).toMatchObject({ exit: 4, error: { code: "INPUT_REQUIRED" } });
});

describe("a collection", () => {
  it("keeps what is pinned, and says what it would do before it does it", async () => {
    await cas("put", file);
    expect(await json(["pin", HELLO])).toMatchObject({ data: { effect: "created" } });
    expect(await json(["pin", HELLO])).toMatchObject({ data: { effect: "noop" } });
    age(HELLO);
    for (const argv of [[], ["--dry-run"]])
      expect(await json(["gc", "--older-than", "1h", ...argv])).toMatchObject({
        data: { objects: 0, pinned: 1, effect: "noop" },
      });
    expect(await json(["unpin", HELLO])).toMatchObject({ data: { effect: "deleted" } });
    const dry = await json(["gc", "--older-than", "1h", "--dry-run"]);
    expect(dry).toMatchObject({ data: { objects: 1, bytes: 5, effect: "would_delete" } });
    expect(await json(["list"])).toMatchObject({ data: [{ digest: HELLO, size_bytes: 5, pinned: false }] });
    expect(await json(["gc", "--older-than", "1h"])).toMatchObject({
      data: { objects: 1, effect: "deleted" },
    });
    expect(await json(["list"])).toMatchObject({ data: [] });
  });

  it("removes nothing where the log cannot be read", async () => {
    await cas("put", file);
    age(HELLO);
    writeFileSync(join(state(), "holdfast.db"), "this is no database");
    expect(await json(["gc", "--older-than", "0s"])).toMatchObject({
      exit: 1,
      error: { code: "STORE_CORRUPT" },
    });
    expect((await cas("get", HELLO)).stdout).toBe("hello");
  });
});

describe("secrets", () => {
  const secret = `key: sk-ant-${"a1B2c3D4".repeat(4)}\n`;
  it("are refused, and nothing is written", async () => {
    writeFileSync(file, secret);
    expect(await json(["put", file])).toMatchObject({
      exit: 7,
      error: { code: "POLICY_VIOLATION", phase: "validation", suggestion: expect.stringContaining("--mask") },
    });
    expect(existsSync(state())).toBe(false);
  });

  it("are masked where that is asked for, also between bytes that are no text", async () => {
    writeFileSync(
      file,
      Buffer.concat([Buffer.from([0xff, 0x00]), Buffer.from(`\n${secret}`), Buffer.from([0xfe])]),
    );
    const { data } = await json(["put", file, "--mask"]);
    const out = join(dir, "copy");
    await cas("get", (data as { digest: string }).digest, "--out", out);
    expect(readFileSync(out).equals(Buffer.from([0xff, 0x00, ...Buffer.from("\nkey: ***\n"), 0xfe]))).toBe(
      true,
    );
  });
});

describe("mistakes are told in one sentence", () => {
  it.each([
    [["get", "abc"], 3, "INVALID_REQUEST", 'DIGEST is sha256: and 64 digits from 0 to f, not "abc"'],
    [["pin", `SHA256:${"0".repeat(64)}`], 3, "INVALID_REQUEST", "DIGEST is sha256:"],
    [["put", "/nowhere/file"], 3, "INVALID_REQUEST", "/nowhere/file does not exist"],
    [["get", ABSENT], 5, "ARTIFACT_NOT_FOUND", `There is no artifact ${ABSENT}.`],
    [["pin", ABSENT], 5, "ARTIFACT_NOT_FOUND", `There is no artifact ${ABSENT}.`],
  ] as const)("agent cas %j: exit %i", async (argv, exit, code, message) => {
    const told = await json(argv);
    expect(told).toMatchObject({ exit, error: { code, message: expect.stringContaining(message) } });
  });

  it("a place that cannot be written", async () => {
    await cas("put", file);
    expect(await json(["get", HELLO, "--out", join(dir, "no", "f")])).toMatchObject({
      exit: 3,
      error: { message: expect.stringContaining("is in a directory that does not exist") },
    });
  });
});

it("an artifact that is itself too large for an envelope is told by its own digest", async () => {
  writeFileSync(file, "line\n".repeat(10_000));
  const digest = (await cas("put", file, "-o", "text")).stdout.trim();
  const envelope = EnvelopeV1.parse(JSON.parse((await cas("get", digest, "-o", "ndjson")).stdout));
  expect(envelope.data).toMatchObject({
    artifact: digest,
    summary: { size_bytes: 50_000, kind: "text/plain; charset=utf-8", preview: expect.anything() },
  });
});
