/** The changes to a tree that `agent up`, `diff` and `down` made, or would make: one line for each node; further ones are counted. */
import type { AppliedReply, TreeChange } from "../../runtime/replies.ts";
import { oneLine, type Paint, type Tone } from "./terminal.ts";

type Action = TreeChange["action"];

const MARKS: Readonly<Record<Exclude<Action, "unchanged">, readonly [Tone, string]>> = {
  create: ["good", "+"],
  start: ["good", "+"],
  update: ["warn", "~"],
  restart: ["warn", "~"],
  remove: ["bad", "-"],
  kept_dead: ["warn", "!"],
};

/** Field names of the spec without their units, as the file writes them. */
const fieldsOf = ({ fields = [] }: TreeChange): string =>
  fields.map((field) => field.replace(/_ms$/, "")).join(", ");

const words = (change: TreeChange, isDone: boolean): string => {
  const fields = fieldsOf(change);
  switch (change.action) {
    case "create":
      return isDone ? "created" : "create";
    case "remove": {
      const there = change.node === undefined ? "" : ` on the node ${change.node}`;
      return `${isDone ? "removed" : "remove"}${there}`;
    }
    case "kept_dead":
      return `kept dead: ${change.reason}`;
    default:
      return `${change.action}: ${fields === "" ? change.reason : `${fields} changed`}`;
  }
};

const treeChanges = ({ changes }: AppliedReply, paint: Paint, isDone: boolean): readonly string[] => {
  const lines = changes.flatMap((change) => {
    if (change.action === "unchanged") return [];
    const [tone, mark] = MARKS[change.action];
    return [
      `${paint(tone, mark)} ${paint("bold", oneLine(change.path, 512))}  ${oneLine(words(change, isDone), 300)}`,
    ];
  });
  const unchanged = changes.length - lines.length;
  return unchanged === 0 ? lines : [...lines, paint("dim", `= unchanged ${unchanged}`)];
};

interface DisplayOptions {
  readonly paint: Paint;
  readonly flags: Readonly<Record<string, unknown>>;
}

export const diffText = (reply: AppliedReply, { paint }: DisplayOptions): string =>
  treeChanges(reply, paint, false).join("\n");

export const upText = (reply: AppliedReply, shown: DisplayOptions): string => {
  if (shown.flags["dry-run"]) return diffText(reply, shown);
  const state = shown.paint(reply.state === "running" ? "good" : "warn", reply.state.replaceAll("_", " "));
  return [...treeChanges(reply, shown.paint, true), `${reply.tree}  ${state}`].join("\n");
};

export const downText = (reply: AppliedReply, { paint, flags }: DisplayOptions): string =>
  flags["dry-run"]
    ? treeChanges(reply, paint, false).join("\n")
    : [...treeChanges(reply, paint, true), `${reply.tree}  stopped`].join("\n");
