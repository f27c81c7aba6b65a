import { crc32 } from "node:zlib";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  type ChecksumFields,
  checksumOf,
  intactLine,
  lineOf,
  type Row,
  verifiedLine,
} from "../../../src/store/sqlite/checksum.ts";
import { codeOf } from "./support.ts";

const columns = fc.tuple(
  fc.integer({ min: 1 }),
  fc.string({ unit: "binary" }),
  fc.string({ unit: "binary" }),
  fc.integer({ min: 1 }),
  fc.constantFrom("agent.event" as const, "worker_exited" as const),
  fc.integer({ min: 0, max: 8_640_000_000_000 }),
  fc.option(fc.string({ unit: "binary" })),
  fc.option(fc.nat()),
  fc.string({ unit: "binary" }),
  fc.string({ unit: "binary" }),
  fc.json(),
);

describe("a record's line", () => {
  it("is the JSON of the record, whatever characters its ids have", () => {
    fc.assert(
      fc.property(columns, (row) => {
        const [
          seq,
          id,
          stream,
          version,
          type,
          recordedAt,
          worker_id,
          incarnation,
          correlation_id,
          causation_id,
          payload,
        ] = row;
        const record = {
          seq,
          id,
          stream,
          version,
          type,
          recorded_at: new Date(recordedAt).toISOString(),
          worker_id,
          incarnation,
          correlation_id,
          causation_id,
          payload: JSON.parse(payload),
        };
        if (worker_id === null) delete (record as Partial<typeof record>).worker_id;
        if (incarnation === null) delete (record as Partial<typeof record>).incarnation;
        expect(JSON.parse(lineOf(row))).toEqual(record);
        expect(lineOf(row)).not.toContain("\n");
      }),
    );
  });

  it("has the CRC-32 of its UTF-8 bytes as checksum", () => {
    expect(checksumOf("é")).toBe(crc32(Buffer.from("é")));
  });
});

describe("a damaged row", () => {
  const facts: ChecksumFields = [7, "id", "worker:w", 3, "agent.event", 1_000, "w", 1, "w", "id", '{"a":1}'];
  const row = [...facts, checksumOf(lineOf(facts))] as unknown as Row;
  const damaged = (index: number, value: unknown) => row.with(index, value as never) as unknown as Row;

  it("is found in whichever column it is", () => {
    expect(intactLine(row)).toBe(lineOf(facts));
    const values = [
      8,
      "ie",
      "worker:v",
      4,
      "agent.even",
      1_001,
      null,
      null,
      "v",
      "ie",
      '{"a":2}',
      row[11] + 1,
    ];
    for (const [index, value] of values.entries())
      expect(intactLine(damaged(index, value)), `column ${index}`).toBeUndefined();
    expect(intactLine(damaged(5, 9e15))).toBeUndefined();
  });

  it("is refused by its seq", () => {
    expect(() => verifiedLine(damaged(10, "{}"))).toThrow(/Record 7 /);
    expect(codeOf(() => verifiedLine(damaged(10, "{}")))).toBe("STORE_CORRUPT");
  });
});
