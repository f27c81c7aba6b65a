/** `raw()`: the bytes that a program has written, as they are, of both streams; and `output()` with no more than is asked for. */
import { truncateSync, writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import type { RawOptions, Runtime } from "../../src/library/index.ts";
import { collect, openRuntime, stateDirectory } from "./support.ts";

const run = async (script: string, over: object = {}): Promise<{ runtime: Runtime; id: string }> => {
  const runtime = await openRuntime(stateDirectory());
  const { id } = await runtime.spawn({ kind: "command", argv: [process.execPath, "-e", script], ...over });
  return { runtime, id };
};

const ran = async (script: string): Promise<{ runtime: Runtime; id: string }> => {
  const worker = await run(script);
  await worker.runtime.wait(worker.id);
  return worker;
};

const slicesOf = (runtime: Runtime, id: string, options?: RawOptions) => collect(runtime.raw(id, options));

const bytesOf = async (runtime: Runtime, id: string, options?: RawOptions): Promise<Buffer> =>
  Buffer.concat((await slicesOf(runtime, id, options)).map(({ bytes }) => bytes));

test("bytes come as they were written, of both streams, however many", async () => {
  const written = Buffer.alloc(1_000_003, "\xff\x00 \u001b[31m", "latin1");
  const { runtime, id } = await ran(
    `const b = Buffer.alloc(1_000_003, "\\xff\\x00 \\u001b[31m", "latin1");
     require("fs").writeSync(2, "a warning"); process.stdout.write(b);`,
  );
  const slices = await slicesOf(runtime, id);
  expect(Buffer.concat(slices.map(({ bytes }) => bytes)).equals(written)).toBe(true);
  expect(slices.length).toBeGreaterThan(1);
  let next = 0;
  for (const { bytes, ...place } of slices) {
    expect(place).toEqual({ incarnation: 1, offset: next, released: 0 });
    next += bytes.length;
  }
  expect((await bytesOf(runtime, id, { stream: "stderr" })).toString()).toBe("a warning");
});

test("no more is read than is asked for, from where it is asked for", async () => {
  const { runtime, id } = await ran('process.stdout.write("0123456789")');
  const [slice, ...others] = await slicesOf(runtime, id, { offset: 3, max_bytes: 4 });
  expect({ ...slice, bytes: String.fromCharCode(...slice!.bytes) }).toEqual({
    incarnation: 1,
    offset: 3,
    bytes: "3456",
    released: 0,
  });
  expect(others).toEqual([]);
  expect(await slicesOf(runtime, id, { offset: 10 })).toEqual([]);
});

test("with follow they come until the worker ends, those of each incarnation", async () => {
  const { runtime, id } = await run(
    `process.stdin.once("data", (line) => process.stdout.write("heard " + line, () => process.exit(1)));
     process.stdout.write("begun ");`,
    { interactive: true, restart: "transient", max_restarts: 1, backoff_min_ms: 0, backoff_max_ms: 0 },
  );
  const heard: string[] = [];
  for await (const { bytes, incarnation } of runtime.raw(id, { follow: true })) {
    const text = Buffer.from(bytes).toString();
    heard.push(`${incarnation}: ${text}`);
    if (text.endsWith("begun "))
      await runtime.send(id, `a message that is longer than all before ${incarnation}\n`);
  }
  const texts = [1, 2].map((one) =>
    heard.flatMap((each) => (each.startsWith(`${one}: `) ? [each.slice(3)] : [])).join(""),
  );
  expect(texts).toEqual([1, 2].map((one) => `begun heard a message that is longer than all before ${one}\n`));
  expect((await runtime.info(id)).status).toBe("failed");
});

test("a close ends it, and makes it reject never", async () => {
  const { runtime, id } = await run('process.stdout.write("here"); setInterval(() => {}, 1e6)');
  const slices = runtime.raw(id, { follow: true })[Symbol.asyncIterator]();
  const { value } = await slices.next();
  expect(Buffer.from(value!.bytes).toString()).toBe("here");
  const rest = slices.next();
  await runtime.close();
  expect(await rest).toEqual({ done: true, value: undefined });
  await expect(slicesOf(runtime, id)).rejects.toMatchObject({ code: "UNAVAILABLE" });
});

test("bytes that are not kept any more are told, and it goes on behind them", async () => {
  const { runtime, id } = await ran('process.stdout.write("x".repeat(5_000) + "the end")');
  const { run_dir } = await runtime.info(id);
  // As a release leaves it (test/adapters/process/release.int.test.ts).
  writeFileSync(`${run_dir}/stdout.released`, `${String(5_000).padStart(20)}\n`, { mode: 0o600 });
  const slices = await slicesOf(runtime, id);
  expect(slices.map(({ bytes, ...place }) => ({ ...place, text: Buffer.from(bytes).toString() }))).toEqual([
    { incarnation: 1, offset: 5_000, released: 5_000, text: "the end" },
  ]);
  // All of it: nothing comes behind.
  truncateSync(`${run_dir}/stdout`, 5_000);
  expect(await slicesOf(runtime, id)).toEqual([
    { incarnation: 1, offset: 5_000, released: 5_000, bytes: Buffer.alloc(0) },
  ]);
});

test("wrong options, and a worker that is not there, are refused", async () => {
  const { runtime, id } = await ran("");
  const codeOf = (options: object) => slicesOf(runtime, id, options as RawOptions);
  for (const options of [{ stream: "stdin" }, { offset: -1 }, { max_bytes: 0 }, { folow: true }])
    await expect(codeOf(options)).rejects.toMatchObject({ code: "INVALID_REQUEST" });
  await expect(slicesOf(runtime, "nobody")).rejects.toMatchObject({ code: "WORKER_NOT_FOUND" });
});

test("an output is cut at what is asked for, between two characters", async () => {
  const { runtime, id } = await ran('process.stdout.write("äöü\\nsecond line\\n")');
  expect(await runtime.output(id, { max_bytes: 5 })).toEqual({
    id,
    text: "äö",
    truncated: true,
    omitted_bytes: 15,
  });
  expect(await runtime.output(id, { max_bytes: 19 })).toMatchObject({
    text: "äöü\nsecond line\n",
    truncated: false,
  });
  await expect(runtime.output(id, { max_bytes: 0 })).rejects.toMatchObject({ code: "INVALID_REQUEST" });
});
