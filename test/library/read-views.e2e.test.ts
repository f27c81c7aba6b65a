/** Another program reads the database with node:sqlite while the runtime writes (docs/reference/read-views.md). */
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, onTestFinished, test } from "vitest";
import { first, openRuntime, stateDirectory } from "./support.ts";

const page = readFileSync(resolve(import.meta.dirname, "../../docs/reference/read-views.md"), "utf8");

/** The columns of each view as the page names them. */
const documented = new Map(
  page
    .split(/^## /m)
    .slice(1)
    .map((section): [string, string[]] => {
      const [title = ""] = /v1_\w+/.exec(section) ?? [];
      const [, columns = ""] = /^Columns: (.*)$/m.exec(section) ?? [];
      const names = columns.replaceAll(/\([^)]*\)/g, "").matchAll(/`(\w+)`/g);
      return [title, [...names].map(([, name = ""]) => name)];
    }),
);

test("the views have the columns of their page, and follow a runtime that writes", async () => {
  const dir = stateDirectory();
  const runtime = await openRuntime(dir);
  const db = new DatabaseSync(join(dir, "holdfast.db"), { readOnly: true });
  onTestFinished(() => db.close());
  const rows = (sql: string, ...values: string[]) => db.prepare(sql).all(...values);

  const views = rows("SELECT name FROM sqlite_schema WHERE type = 'view' ORDER BY name").map(
    ({ name }) => name,
  );
  expect(views).toEqual([...documented.keys()].sort());
  for (const [view, columns] of documented)
    expect(rows("SELECT name FROM pragma_table_info(?)", view).map(({ name }) => name)).toEqual(columns);

  const script = "while :; do echo tick; sleep 0.01; done";
  const { id } = await runtime.spawn({
    kind: "command",
    argv: ["sh", "-c", script],
    name: "busy",
    labels: { team: "a" },
  });
  const { seq } = await first(runtime.watch(id), "agent.event");
  const running = "SELECT name, state, ended_at FROM v1_workers WHERE id = ?";
  expect(rows(running, id)).toMatchObject([{ name: "busy", state: "running", ended_at: null }]);
  expect(rows("SELECT key, value FROM v1_labels WHERE worker_id = ?", id)).toMatchObject([
    { key: "team", value: "a" },
  ]);
  const said =
    "SELECT seq, json_extract(payload, '$.text') AS text FROM v1_records WHERE type = 'agent.event'";
  expect(rows(`${said} ORDER BY seq LIMIT 1`)).toMatchObject([
    { seq, text: expect.stringContaining("tick") },
  ]);
  await runtime.kill(id);
  expect(rows(running, id)).toMatchObject([{ state: "cancelled", ended_at: expect.any(String) }]);
  expect(rows("SELECT count(*) AS count FROM v1_records")).toMatchObject([
    { count: (await runtime.status()).head },
  ]);
});
