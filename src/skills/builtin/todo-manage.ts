/** todo/manage: a todo list of the workspace that lasts from run to run. */
import * as z from "zod";
import { TODO_ITEMS_MAX, TODO_TEXT_MAX_UNITS } from "../../base/limits.ts";
import { HoldfastError } from "../../protocol/errors.ts";
import type { BuiltinSkill, SkillContext } from "../skill.ts";
import { changeTodos, type TodoItem, type TodoList, todoItem } from "./todo-file.ts";

const ACTIONS = ["add", "list", "update", "done", "remove"] as const;
type TodoAction = (typeof ACTIONS)[number];

/** The fields that each action needs. */
const NEEDS: Readonly<Record<TodoAction, readonly ("id" | "text")[]>> = {
  add: ["text"],
  list: [],
  update: ["id"],
  done: ["id"],
  remove: ["id"],
};

const input = z
  .strictObject({
    action: z.enum(ACTIONS).default("list").describe("change of the list, or list to see it"),
    id: z.int().min(1).optional().describe("item to update, to mark as done or to remove"),
    text: z
      .string()
      .min(1)
      .max(TODO_TEXT_MAX_UNITS)
      .optional()
      .describe("text of the item to add, or the new text"),
    status: todoItem.shape.status.optional().describe("new status; with list, the only status to list"),
    priority: todoItem.shape.priority.optional().describe("priority of the item; normal by default"),
  })
  .superRefine((asks, context) => {
    for (const name of NEEDS[asks.action])
      if (asks[name] === undefined)
        context.addIssue({ code: "custom", path: [name], message: `${asks.action} needs ${name}` });
  });
type TodoInput = z.output<typeof input>;

const output = z.object({
  action: z.enum(ACTIONS),
  /** The item that was added, changed or removed. */
  item: todoItem.optional(),
  /** With `list`: in the order in which they were added. */
  items: z.array(todoItem).optional(),
  counts: z.object({ open: z.int(), in_progress: z.int(), done: z.int() }),
});
type TodoOutput = z.output<typeof output>;

const countsOf = ({ items }: TodoList): TodoOutput["counts"] => {
  const count = (status: TodoItem["status"]): number => items.filter((item) => item.status === status).length;
  return { open: count("open"), in_progress: count("in_progress"), done: count("done") };
};

const added = (list: TodoList, asks: TodoInput, now: string): readonly [TodoItem, TodoList] => {
  if (list.items.length >= TODO_ITEMS_MAX)
    throw new HoldfastError("RESOURCE_EXHAUSTED", `The todo list has ${TODO_ITEMS_MAX} items already.`, {
      suggestion: "Remove items that are done.",
      details: { limit: TODO_ITEMS_MAX },
    });
  const item: TodoItem = {
    id: list.next_id,
    text: asks.text ?? "",
    status: asks.status ?? "open",
    priority: asks.priority ?? "normal",
    created_at: now,
    updated_at: now,
  };
  return [item, { next_id: list.next_id + 1, items: [...list.items, item] }];
};

const itemOf = (list: TodoList, id: number | undefined): TodoItem => {
  const item = list.items.find((each) => each.id === id);
  if (item !== undefined) return item;
  throw new HoldfastError("ITEM_NOT_FOUND", `The todo list has no item ${id}.`, {
    suggestion: "List the items with the action list.",
    details: { id },
  });
};

/** The item before the change, and after it; the same list if nothing changes. */
const changed = (list: TodoList, asks: TodoInput, now: string): readonly [TodoItem, TodoList] => {
  const item = itemOf(list, asks.id);
  if (asks.action === "remove") return [item, { ...list, items: list.items.filter((each) => each !== item) }];
  const next: TodoItem = {
    ...item,
    text: asks.text ?? item.text,
    status: asks.action === "done" ? "done" : (asks.status ?? item.status),
    priority: asks.priority ?? item.priority,
    updated_at: now,
  };
  return [next, { ...list, items: list.items.map((each) => (each === item ? next : each)) }];
};

const carriedOut = (list: TodoList, asks: TodoInput, now: string): readonly [TodoOutput, TodoList] => {
  const { action, status } = asks;
  if (action === "list") {
    const items = list.items.filter((item) => status === undefined || item.status === status);
    return [{ action, items, counts: countsOf(list) }, list];
  }
  const [item, next] = action === "add" ? added(list, asks, now) : changed(list, asks, now);
  return [{ action, item, counts: countsOf(next) }, next];
};

export const todoManage: BuiltinSkill<TodoInput, TodoOutput> = {
  name: "todo/manage",
  summary: "Keep a todo list of the workspace.",
  version: "1.0.0",
  effect: "any",
  input,
  output,
  network: "none",
  run: (asks, { state, signal }: SkillContext) =>
    changeTodos(state, (list) => carriedOut(list, asks, new Date().toISOString()), signal),
};
