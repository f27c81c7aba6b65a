/** The changes in a worktree as text for people. The diff itself is already printed. */
import type { Replies } from "../../daemon/replies.ts";
import { oneLine, table } from "./terminal.ts";
import type { TextOf } from "./text.ts";
import { count } from "./units.ts";

const PATH_COLUMNS = 200;

const nameOf = ({ path, from }: Replies["agent/changes"]["files"][number]): string =>
  oneLine(from === undefined ? path : `${from} → ${path}`, PATH_COLUMNS);

const sumOf = ({ totals }: Replies["agent/changes"]): string =>
  `${count(totals.files, "file")}, ${count(totals.insertions, "insertion")}, ${count(totals.deletions, "deletion")}${totals.binary > 0 ? `, ${totals.binary} binary` : ""}`;

export const changesText: TextOf<Replies["agent/changes"]> = (reply, { paint, flags }) => {
  const { files, omitted, diff, totals } = reply;
  const more = omitted > 0 ? [paint("dim", `and ${count(omitted, "more file")}`)] : [];
  if (flags["name-only"])
    return [...files.map(({ path }) => oneLine(path, PATH_COLUMNS)), ...more].join("\n");
  // If there is a diff, it is already printed.
  if (!flags.stat && diff !== null) return "";
  if (totals.files === 0) return "";
  const rows = files.map((file) => [
    file.change.replaceAll("_", " "),
    file.insertions === null ? "binary" : paint("good", `+${file.insertions}`),
    file.deletions === null ? "" : paint("bad", `-${file.deletions}`),
    nameOf(file),
  ]);
  return [table(rows), ...more, sumOf(reply)].join("\n");
};

/** The worktree of a worker, or of the plan of a spawn. */
export const worktreeWords = ({
  branch,
  base_commit,
  path,
}: {
  readonly branch: string | null;
  readonly base_commit: string;
  readonly path?: string;
}): string =>
  oneLine(
    `${path === undefined ? "of its own" : path}, branch ${branch ?? "by itself"} from ${base_commit.slice(0, 12)}`,
    300,
  );

export const sandboxWords = ({
  program,
  net,
  writable,
}: {
  readonly program: string;
  readonly net: string;
  readonly writable: readonly string[];
}): string => oneLine(`${program}, network ${net}, writable: ${writable.join(", ")}`, 600);
