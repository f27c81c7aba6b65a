/**
 * The file of todo/manage. Each change is a new version: a whole file under the next number. A hard link gives it its name,
 * which fails if the name is taken, so that of two changes at once one begins anew, and no lock can be left behind. The name
 * of an old version stays for a while, empty, so that a slow writer does not take it again.
 */
import { randomUUID } from "node:crypto";
import { linkSync, mkdirSync, readdirSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import * as z from "zod";
import { readRegular, statRegular } from "../../base/files/regular-file.ts";
import {
  TODO_FILE_MAX_BYTES,
  TODO_NAME_KEPT_MS,
  TODO_TRIES_MAX,
  TODO_TRY_EVERY_MS,
} from "../../base/limits.ts";
import { isFullDisk } from "../../base/system-errors.ts";
import { HoldfastError } from "../../protocol/errors.ts";
import { breathe } from "./file-facts.ts";

export const todoItem = z.object({
  /** A number that no other item of this workspace has had. */
  id: z.int().min(1),
  text: z.string(),
  status: z.enum(["open", "in_progress", "done"]),
  priority: z.enum(["low", "normal", "high"]),
  created_at: z.string(),
  updated_at: z.string(),
});
export type TodoItem = z.output<typeof todoItem>;

const todoList = z.object({ next_id: z.int().min(1), items: z.array(todoItem) });
export type TodoList = z.output<typeof todoList>;

interface TodoVersion {
  readonly number: number;
  readonly list: TodoList;
}

const EMPTY: TodoList = { next_id: 1, items: [] };
const numberOf = (name: string): number => Number(/^(\d{1,15})\.json$/.exec(name)?.[1] ?? 0);

/** Applies one change to the list in `state`, whoever else changes it at the same time. Fails with what `change` throws. */
export const changeTodos = async <T>(
  state: string,
  change: (list: TodoList) => readonly [T, TodoList],
  signal: AbortSignal,
): Promise<T> => {
  const directory = join(state, "todo");
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  for (let attempt = 1; attempt <= TODO_TRIES_MAX; attempt += 1) {
    await breathe(signal);
    const version = newest(directory);
    if (version !== undefined) {
      const [answer, list] = change(version.list);
      if (list === version.list || added(directory, version.number + 1, list)) return answer;
    }
    await setTimeout(Math.random() * TODO_TRY_EVERY_MS);
  }
  throw new HoldfastError("UNAVAILABLE", "Too many others change the todo list at the same time.", {
    attempts: TODO_TRIES_MAX,
    backoff: `random up to ${TODO_TRY_EVERY_MS}ms`,
  });
};

/** Undefined if a writer has just replaced it. */
const newest = (directory: string): TodoVersion | undefined => {
  const number = newestNumber(directory);
  if (number === 0) return { number, list: EMPTY };
  const bytes = readRegular(join(directory, `${number}.json`), TODO_FILE_MAX_BYTES);
  if (bytes === undefined || bytes.length === 0) return undefined;
  try {
    return { number, list: todoList.parse(JSON.parse(bytes.toString("utf8"))) };
  } catch (cause) {
    // It is empty by now, or somebody else has written it.
    if (newestNumber(directory) !== number) return undefined;
    throw new HoldfastError("FILE_FAILED", `The todo list ${join(directory, `${number}.json`)} is damaged.`, {
      suggestion: "Correct the file, or remove its directory to begin a new list.",
      cause,
    });
  }
};

const newestNumber = (directory: string): number => Math.max(0, ...readdirSync(directory).map(numberOf));

/** False if somebody else has added this version. */
const added = (directory: string, number: number, list: TodoList): boolean => {
  const draft = join(directory, `${randomUUID()}.new`);
  try {
    writeFileSync(draft, JSON.stringify(list), { mode: 0o600, flag: "wx", flush: true });
    linkSync(draft, join(directory, `${number}.json`));
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === "EEXIST") return false;
    throw new HoldfastError(
      isFullDisk(cause) ? "DISK_FULL" : "FILE_FAILED",
      "The todo list cannot be written.",
      {
        details: { errno: code },
        cause,
      },
    );
  } finally {
    rmSync(draft, { force: true });
  }
  forget(directory, number);
  return true;
};

/** Empties the versions before this one, and removes their names once no writer can still know them. */
const forget = (directory: string, number: number): void => {
  for (const name of readdirSync(directory)) {
    const path = join(directory, name);
    const stats = statRegular(path);
    if (stats === undefined) continue;
    const isOld = Date.now() - stats.mtimeMs > TODO_NAME_KEPT_MS;
    try {
      const other = numberOf(name);
      if (other >= number || (other === 0 && !isOld)) continue;
      if (stats.size > 0 && other > 0) truncateSync(path);
      else if (isOld) rmSync(path, { force: true });
    } catch {
      // Another writer does the same.
    }
  }
};
