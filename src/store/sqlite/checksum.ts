/**
 * A row of the log, its JSON line, and the checksum of that line. The checksum covers exactly what a reader gets: the line
 * is built from the columns, without parsing the payload, and covers every column except the checksum.
 */
import { crc32 } from "node:zlib";
import { isoTime } from "../../base/iso-time.ts";
import { HoldfastError } from "../../protocol/errors.ts";
import type { RecordType } from "../../protocol/records.ts";

export const COLUMNS =
  "seq, id, stream, version, type, recorded_at, worker_id, incarnation, correlation_id, causation_id, payload, checksum";

/** The columns of a row in the order of COLUMNS. `recordedAt` is epoch milliseconds, `payload` is JSON text. */
export type ChecksumFields = readonly [
  seq: number,
  id: string,
  stream: string,
  version: number,
  type: RecordType,
  recordedAt: number,
  workerId: string | null,
  incarnation: number | null,
  correlationId: string,
  causationId: string,
  payload: string,
];
export type Row = readonly [...ChecksumFields, checksum: number];

const PLAIN = /^[\w:.-]*$/;
/** Nearly every id is plain, and the test is cheaper than JSON.stringify. */
const quote = (text: string): string => (PLAIN.test(text) ? `"${text}"` : JSON.stringify(text));

/** The record as one JSON line without a line end, fields in the order in which `agent watch` prints them. */
export const lineOf = (facts: ChecksumFields | Row): string => {
  const [seq, id, stream, version, type, recordedAt, worker, incarnation, correlation, causation, payload] =
    facts;
  return (
    `{"seq":${seq},"id":${quote(id)},"stream":${quote(stream)},"version":${version},"type":${quote(type)}` +
    `,"recorded_at":"${isoTime(recordedAt)}"${worker === null ? "" : `,"worker_id":${quote(worker)}`}` +
    `${incarnation === null ? "" : `,"incarnation":${incarnation}`},"correlation_id":${quote(correlation)}` +
    `,"causation_id":${quote(causation)},"payload":${payload}}`
  );
};

/** CRC-32 (zlib) of the line's UTF-8 bytes. It finds damage but does not resist forgery. */
export const checksumOf = (line: string): number => crc32(line);

/** The row's line if its checksum is right, else undefined. */
export const intactLine = (row: Row): string | undefined => {
  try {
    const line = lineOf(row);
    return checksumOf(line) === row[11] ? line : undefined;
  } catch {
    return undefined; // a column holds an impossible value, such as a time out of range
  }
};

/** The row's line. Throws STORE_CORRUPT, with the seq, if its checksum is wrong. */
export const verifiedLine = (row: Row): string => {
  const line = intactLine(row);
  if (line === undefined)
    throw new HoldfastError(
      "STORE_CORRUPT",
      `Record ${row[0]} of the event log does not match its checksum.`,
      {
        details: { seq: row[0] },
      },
    );
  return line;
};
