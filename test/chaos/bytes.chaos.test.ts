/** Promise R17: any bytes on stdout and stderr are survivable. Each row is told as it should be, and the next line is read. */
import { statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { figure } from "../support/figures.ts";
import { peakMiB, startDaemon, temporaryDirectory } from "./support.ts";

/** Promise R17. */
const RSS_MAX_MIB = 150;
const MIB = 1024 * 1024;
const NEXT = "the next line\n";

/** Bytes that an agent prints, and the text that the log has of it; undefined: only its count. */
const ROWS: readonly (readonly [string, Buffer, string | undefined])[] = [
  ["a JSON line of 50 MB", Buffer.from(`{"text":"${"x".repeat(50 * MIB)}"}\n`), undefined],
  ["NUL", Buffer.from("a\0b\0\n"), "a\0b\0\n"],
  [
    "lone surrogates, as UTF-8 would have them",
    Buffer.from([0x61, 0xed, 0xa0, 0x80, 0xed, 0xbf, 0xbf, 0x0a]),
    "a��\n",
  ],
  [
    "lone surrogates, as JSON escapes them",
    Buffer.from('{"text":"\\ud800 \\udfff"}\n'),
    '{"text":"\\ud800 \\udfff"}\n',
  ],
  ["invalid UTF-8", Buffer.from([0xff, 0xfe, 0xc3, 0x28, 0x0a]), "��(\n"],
  ["ANSI", Buffer.from("\x1b[31mred\x1b[0m\x1b]0;title\x07\n"), "\x1b[31mred\x1b[0m\x1b]0;title\x07\n"],
  ["CR only", Buffer.from("10%\r50%\r100%\r\n"), "10%\r50%\r100%\r\n"],
  ["other line ends", Buffer.from("a\u2028b\u0085c\x0bd\n"), "a\u2028b\u0085c\x0bd\n"],
];

/** Decoders differ in how many replacements they make of bytes that are no character. */
const oneEach = (text: string): string => text.replace(/\ufffd+/g, "\ufffd");

test.each(["stdout", "stderr"] as const)(
  `${ROWS.length} kinds of bytes on %s are each one record, and the next line is read`,
  {
    timeout: 240_000,
  },
  async (stream) => {
    const dir = temporaryDirectory();
    const daemon = await startDaemon();
    const redirect = stream === "stdout" ? "" : " >&2";
    const failures: string[] = [];
    for (const [n, [what, bytes, expected]] of ROWS.entries()) {
      const file = join(dir, String(n));
      writeFileSync(file, Buffer.concat([bytes, Buffer.from(NEXT)]));
      const id = await daemon.spawn(["/bin/sh", "-c", `cat "$0"${redirect}`, file]);
      await daemon.wait([id]);
      const chunks = await daemon.history(["worker_log_chunk"], [id]);
      const texts = (await daemon.history(["agent.event"], [id])).map(({ payload }) => payload.text ?? "");
      const said = expected === undefined ? [NEXT] : [oneEach(expected), NEXT];
      const counted = expected === undefined ? [bytes.length - 1] : [];
      if (
        JSON.stringify(texts.map(oneEach)) !== JSON.stringify(said) ||
        JSON.stringify(chunks.map(({ payload }) => payload.bytes)) !== JSON.stringify(counted) ||
        (await daemon.info(id)).state !== "completed" ||
        statSync(join(daemon.stateDir, "runs", id, "1", stream)).size !== statSync(file).size
      )
        failures.push(`${what}: ${JSON.stringify([texts, chunks]).slice(0, 500)}`);
    }
    const peak = peakMiB(daemon.pid);
    figure("R17", {
      rounds: ROWS.length,
      failures: failures.length,
      note: `${ROWS.map(([what]) => what).join(", ")}, on ${stream}; the daemon's memory peaked at ${Math.round(peak)} MiB`,
    });
    expect(failures).toEqual([]);
    expect(peak).toBeLessThan(RSS_MAX_MIB);
  },
);
