import { expect, it } from "vitest";
import { NOTIFY_TITLE_MAX_CHARS } from "../../../src/base/limits.ts";
import type { Notice } from "../../../src/control/notify/notice.ts";
import { noticeOfHost } from "../../../src/control/notify/of-host.ts";

const NOTICE: Notice = {
  id: "01",
  kind: "failed",
  at: "2026-11-27T20:00:00.000Z",
  subject: { worker_id: "W", name: "fixer", labels: {}, within: ["fixer", "crew"], is_spawned: false },
  title: "fixer failed",
  text: "It failed.",
  asks: null,
  command: "agent why fixer",
};

it("names its host, and leads there", () => {
  expect(noticeOfHost("build", NOTICE)).toEqual({
    ...NOTICE,
    host: "build",
    title: "build: fixer failed",
    command: "agent --host build why fixer",
    subject: { ...NOTICE.subject, within: ["fixer", "crew", "build/fixer", "build/crew"] },
  });
});

it("keeps the bound of a title", () => {
  const long = { ...NOTICE, title: "x".repeat(NOTIFY_TITLE_MAX_CHARS) };
  expect(noticeOfHost("build", long).title).toHaveLength(NOTIFY_TITLE_MAX_CHARS);
});
