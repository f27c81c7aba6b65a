/** The history checker of mailboxes finds what was planted, and nothing in an honest history. */
import { describe, expect, it } from "vitest";
import { BoxHistory } from "../control/mailbox/model.ts";
import { checkMail, type MailHistory } from "./mail-history.ts";

/** Three messages: one is delivered twice, all are acknowledged in the end. */
const honest = (): MailHistory => {
  const box = new BoxHistory();
  const got: { message_id: string; token: number }[] = [];
  const poll = (limit: number) => {
    for (const [message_id, token] of box.poll(limit)) got.push({ message_id, token });
  };
  for (const id of ["a", "b", "c"]) {
    box.mono_ms += 10;
    box.send(id);
  }
  poll(1);
  box.mono_ms += 2_000;
  poll(3);
  for (const { token } of got.slice(1)) box.input({ type: "ack", token, by: "user" });
  return { records: box.records, sent: ["a", "b", "c"], got, acked: ["a", "b", "c"] };
};

type Records = MailHistory["records"];
const change = (make: (records: Records) => Records): MailHistory => {
  const history = honest();
  return { ...history, records: make(history.records) };
};
const indexOf = (records: Records, type: string, nth = 0): number =>
  records.flatMap((record, at) => (record.type === type ? [at] : []))[nth]!;
const without = (type: string, nth = 0) =>
  change((records) => records.filter((_, at) => at !== indexOf(records, type, nth)));

describe("the history of mailboxes", () => {
  it("is in order where it is honest", () => {
    expect(checkMail(honest())).toEqual([]);
  });

  it.each([
    ["a message that was told sent is lost", () => without("mailbox_sent", 2), "is lost"],
    ["an acknowledgement is lost", () => without("mailbox_acked", 1), "told acknowledged"],
    ["a delivery is not on record", () => without("mailbox_delivered"), "without a record"],
    [
      "a message is delivered after its acknowledgement",
      () => change((records) => [...records, records[indexOf(records, "mailbox_delivered", 1)]!]),
      "after its end",
    ],
    [
      "a message is sent twice",
      () => change((records) => [...records, records[indexOf(records, "mailbox_sent")]!]),
      "is sent twice",
    ],
    [
      "a lease is not kept",
      () =>
        change((records) => {
          const at = indexOf(records, "mailbox_delivered");
          return [...records.slice(0, at + 1), records[at]!, ...records.slice(at + 1)];
        }),
      "nobody may get it",
    ],
    [
      "two messages change places",
      () =>
        change((records) => {
          const [b, c] = [indexOf(records, "mailbox_delivered", 1), indexOf(records, "mailbox_delivered", 2)];
          return records.map((record, at) => records[at === b ? c : at === c ? b : at] ?? record);
        }),
      "there first",
    ],
    [
      "a message is acknowledged with a stale token",
      () =>
        change((records) =>
          records.map((record, at) =>
            at === indexOf(records, "mailbox_acked")
              ? ({ ...record, payload: { ...record.payload, token: 1 } } as Records[number])
              : record,
          ),
        ),
      "stale token",
    ],
  ])("is refused where %s", (_, make, sentence) => {
    expect(checkMail(make()).join("\n")).toContain(sentence);
  });
});
