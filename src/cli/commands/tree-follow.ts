/** `agent tree -f`: prints the tree again whenever it has changed; on a terminal, in place. */
import { setTimeout as sleep } from "node:timers/promises";
import { TREE_REDRAW_MS } from "../../base/limits.ts";
import type { HoldfastError } from "../../protocol/errors.ts";
import type { TreeNode } from "../../runtime/replies.ts";
import type { Context } from "../context.ts";
import { outlasting } from "../outlast.ts";
import { RECORD_TYPES } from "../render/sentences.ts";
import type { Paint } from "../render/terminal.ts";
import { renderText } from "../render/text.ts";

/** Matches the types of records that change no tree. A watch takes at most 64 types. */
const QUIET = /^(agent\.event$|turn_|session_|bb_|mailbox_|issue\.|board_|skill_|token_)/;

/** Cuts a tree that is drawn in place to the terminal's height; the cursor needs the last line. */
export const clipped = (text: string, rows: number, paint: Paint): string => {
  const lines = text.split("\n");
  const room = Math.max(2, rows - 1);
  if (lines.length <= room) return text;
  const left = lines.length - room + 1;
  return [...lines.slice(0, room - 1), paint("dim", `… and ${left} lines more: agent tree`)].join("\n");
};

export const followTree = async (context: Context): Promise<{ readonly trees: number }> => {
  context.onInterrupt = { sentence: "The workers keep running." };
  let shown = "";
  let lines = 0;
  let trees = 0;
  const show = async (root: TreeNode): Promise<void> => {
    const json = JSON.stringify(root);
    if (json === shown) return;
    shown = json;
    trees++;
    if (context.mode !== "text") return context.line(root);
    const { paint, flags, columns, rows, isStdoutTerminal: terminal } = context;
    const whole = renderText("agent/tree", root, { paint, flags, now: Date.now(), terminal, columns });
    const text = rows === undefined ? whole : clipped(whole, rows, paint);
    const back = terminal && lines > 0 ? `\x1b[${lines}A\x1b[J` : lines > 0 ? "\n" : "";
    lines = text.split("\n").length;
    await context.stdout(`${back}${text}\n`);
  };
  const types = RECORD_TYPES.filter((type) => !QUIET.test(type));
  await outlasting(context, { resume: () => "agent tree -f" }, async (client) => {
    const from = (await client.request("daemon/status", {})).head;
    await show(await client.request("agent/tree", {}));
    let changed: (() => void) | undefined;
    let dirty = false;
    const watching = client.watch({ types: [...types], from, follow: true, all: true }, () => {
      dirty = true;
      changed?.();
    });
    let refused: HoldfastError | undefined;
    watching.catch((error) => {
      refused = error as HoldfastError;
      changed?.();
    });
    for (;;) {
      if (!dirty && refused === undefined && !client.isBroken())
        await new Promise<void>((resolve) => {
          changed = resolve;
        });
      // Nothing would tell of the next change. A watch that ended with its daemon is opened again by the next one.
      if (refused !== undefined) throw refused;
      dirty = false;
      await show(await client.request("agent/tree", {}));
      await sleep(TREE_REDRAW_MS);
    }
  });
  return { trees };
};
