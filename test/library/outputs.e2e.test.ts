/** The answer of `output()` where a program has printed more, or a longer line, than can be shown. */
import { expect, test } from "vitest";
import { openRuntime, stateDirectory } from "./support.ts";

const MIB = 1024 * 1024;

const printed = async (script: string) => {
  const runtime = await openRuntime(stateDirectory());
  const { id } = await runtime.spawn({ kind: "command", argv: [process.execPath, "-e", script] });
  await runtime.wait(id);
  return { runtime, id };
};

test("more than 16 MiB are cut, and said to be", async () => {
  const line = `${"x".repeat(65_535)}\n`;
  const { runtime, id } = await printed(
    `process.stdout.write(${JSON.stringify(line)}.repeat(${(20 * MIB) / line.length}))`,
  );
  const { text, ...rest } = await runtime.output(id);
  expect(text.length).toBe(16 * MIB);
  expect(rest).toEqual({ id, truncated: true, omitted_bytes: 4 * MIB });
});

test("a line of 2 MiB, with and without an end, is whole", async () => {
  const line = "x".repeat(2 * MIB);
  for (const end of ["", "\n", "\nOK\n"]) {
    const { runtime, id } = await printed(
      `process.stdout.write("x".repeat(${2 * MIB}) + ${JSON.stringify(end)})`,
    );
    const { text, ...rest } = await runtime.output(id);
    expect(text === line + end).toBe(true);
    expect(rest).toEqual({ id, truncated: false, omitted_bytes: 0 });
  }
});

test("a line over every limit is missing, and not nothing", async () => {
  const bytes = 17 * MIB;
  const alone = await printed(`process.stdout.write("x".repeat(${bytes}))`);
  expect(await alone.runtime.output(alone.id)).toEqual({
    id: alone.id,
    text: "",
    truncated: true,
    omitted_bytes: bytes,
  });
  const { runtime, id } = await printed(`process.stdout.write("x".repeat(${bytes}) + "\\nOK\\n")`);
  expect(await runtime.output(id)).toEqual({ id, text: "OK\n", truncated: true, omitted_bytes: bytes });
});

test("a worker that has printed nothing has said nothing", async () => {
  const { runtime, id } = await printed("");
  await expect(runtime.output(id)).rejects.toMatchObject({
    code: "OUTPUT_NOT_FOUND",
    message: `Worker ${id} has said nothing.`,
  });
});
