import { readdirSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { describe, expect, it } from "vitest";
import { todoManage } from "../../../src/skills/builtin/todo-manage.ts";
import { freshContext, running } from "./context.ts";

const todo = running(todoManage);

describe("todo/manage", () => {
  it("adds, lists, updates, finishes and removes items, and never gives an id twice", async () => {
    const context = freshContext();
    expect(await todo({}, context)).toEqual({
      action: "list",
      items: [],
      counts: { open: 0, in_progress: 0, done: 0 },
    });
    const first = await todo({ action: "add", text: "write" }, context);
    expect(first).toMatchObject({ item: { id: 1, text: "write", status: "open", priority: "normal" } });
    await todo({ action: "add", text: "test", priority: "high" }, context);
    await todo({ action: "update", id: 1, text: "rewrite", status: "in_progress" }, context);
    expect(await todo({ action: "done", id: 2 }, context)).toMatchObject({
      counts: { in_progress: 1, done: 1 },
    });
    expect((await todo({ status: "done" }, context)).items).toMatchObject([{ id: 2, text: "test" }]);
    expect(await todo({ action: "remove", id: 2 }, context)).toMatchObject({ item: { id: 2 } });
    expect(await todo({ action: "add", text: "again" }, context)).toMatchObject({ item: { id: 3 } });
    expect((await todo({}, context)).items?.map(({ id, text }) => [id, text])).toEqual([
      [1, "rewrite"],
      [3, "again"],
    ]);
  });

  it.each([
    [{ action: "add" }, "add needs text"],
    [{ action: "done" }, "done needs id"],
    [{ action: "drop" }, "Invalid option"],
  ])("refuses %j", async (asks, sentence) => {
    await expect(async () => todo(asks, freshContext())).rejects.toThrow(sentence);
  });

  it("says so where an item is not there, the list is full, or its file is damaged", async () => {
    const context = freshContext();
    await expect(todo({ action: "done", id: 9 }, context)).rejects.toMatchObject({ code: "ITEM_NOT_FOUND" });
    const items = Array.from({ length: 500 }, (_, at) => ({
      id: at + 1,
      text: "x",
      status: "open",
      priority: "low",
      created_at: "",
      updated_at: "",
    }));
    writeFileSync(join(context.state, "todo", "7.json"), JSON.stringify({ next_id: 501, items }));
    await expect(todo({ action: "add", text: "x" }, context)).rejects.toMatchObject({
      code: "RESOURCE_EXHAUSTED",
    });
    writeFileSync(join(context.state, "todo", "8.json"), "{");
    await expect(todo({}, context)).rejects.toMatchObject({ code: "FILE_FAILED" });
  });

  it("keeps one whole file, and the names of old versions for a while only", async () => {
    const context = freshContext();
    const directory = join(context.state, "todo");
    for (let turn = 0; turn < 5; turn += 1) await todo({ action: "add", text: "x" }, context);
    const full = () => readdirSync(directory).filter((name) => statSync(join(directory, name)).size > 0);
    expect(full()).toEqual(["5.json"]);
    expect(readdirSync(directory).length).toBe(5);
    const longAgo = new Date(Date.now() - 2 * 60 * 60 * 1000);
    for (const name of readdirSync(directory)) utimesSync(join(directory, name), longAgo, longAgo);
    await todo({ action: "add", text: "x" }, context);
    expect(full()).toEqual(["6.json"]);
    expect(readdirSync(directory).sort()).toEqual(["5.json", "6.json"]);
  });

  it("loses nothing where many add at once, in threads of their own", async () => {
    const context = freshContext();
    const source = new URL("../../../src/skills/builtin/todo-manage.ts", import.meta.url).href;
    const adding = Array.from(
      { length: 4 },
      (_, thread) =>
        new Promise<void>((resolve, reject) => {
          const worker = new Worker(
            `const { workerData } = require("node:worker_threads");
             import(workerData.source).then(async ({ todoManage }) => {
               const signal = new AbortController().signal;
               for (let turn = 0; turn < 15; turn += 1)
                 await todoManage.run(
                   { action: "add", text: workerData.thread + "-" + turn },
                   { state: workerData.state, signal },
                 );
             });`,
            { eval: true, workerData: { source, thread, state: context.state } },
          );
          worker.once("error", reject);
          worker.once("exit", () => resolve());
        }),
    );
    await Promise.all(adding);
    const { items = [] } = await todo({}, context);
    expect(new Set(items.map(({ text }) => text)).size).toBe(60);
    expect(items.map(({ id }) => id)).toEqual(Array.from({ length: 60 }, (_, at) => at + 1));
  });
});
