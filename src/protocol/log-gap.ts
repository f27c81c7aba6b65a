/** The payload of `log_gap`, the record that replaces output records which retention has removed. Part of the published schemas. */
import * as z from "zod";

export const LogGap = z.strictObject({
  from_seq: z.int().min(1).describe("seq of the first record that was removed; the gap has it now"),
  to_seq: z
    .int()
    .min(1)
    .describe("seq of the last one; records of other streams stand between them, where they were"),
  to_version: z
    .int()
    .min(1)
    .describe("version of the last one in its stream: the gap's own version up to this one are gone"),
  records: z.int().min(1).describe("how many were removed"),
  last_event_at: z.iso
    .datetime()
    .nullable()
    .describe("when the newest agent.event among them was recorded; null where there was none"),
  archive: z
    .string()
    .nullable()
    .describe("the file in archive/ that has them; null where they were removed without one"),
});
export type LogGap = z.output<typeof LogGap>;
