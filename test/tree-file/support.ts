/** Trees from files that are texts of a test: `holdfast.yaml` in /work/shop, and what stands beside it. */
import { resolve } from "node:path";
import type { SupervisorNode, TreeNodeSpec, WorkerNode } from "../../src/protocol/tree.ts";
import type { Mistakes } from "../../src/tree-file/problems.ts";
import { readTreeFile, type TreeFile, type TreeFileInput } from "../../src/tree-file/read.ts";

const DIRECTORY = "/work/shop";

export interface Given {
  readonly files?: Readonly<Record<string, string>>;
  readonly vars?: Readonly<Record<string, string>>;
  readonly env?: TreeFileInput["env"];
  readonly host?: string;
  readonly kinds?: TreeFileInput["kinds"];
}

const reading = (text: string, { files = {}, vars = {}, env = {}, host = "here", kinds }: Given) => {
  const all = new Map(
    Object.entries({ "holdfast.yaml": text, ...files }).map(([name, content]) => [
      resolve(DIRECTORY, name),
      content,
    ]),
  );
  return readTreeFile({
    file: `${DIRECTORY}/holdfast.yaml`,
    given: new Map(Object.entries(vars)),
    env,
    host,
    ...(kinds && { kinds }),
    display: (file) => file.replace(`${DIRECTORY}/`, ""),
    readFile: (path, maxBytes) => {
      const content = all.get(path);
      if (content === undefined) return { ok: false, problem: "does not exist" };
      return Buffer.byteLength(content) > maxBytes
        ? { ok: false, problem: `is over ${maxBytes} bytes` }
        : { ok: true, value: content };
    },
  });
};

export const read = (text: string, given: Given = {}): TreeFile => {
  const file = reading(text, given);
  if (!file.ok) throw new Error(file.message);
  return file;
};

export const mistakesIn = (text: string, given: Given = {}): Mistakes => {
  const file = reading(text, given);
  if (file.ok) throw new Error("the file has no mistake");
  return file;
};

/** Each as `file:line:column: sentence`. */
export const problemsOf = (text: string, given?: Given): readonly string[] =>
  mistakesIn(text, given).problems;

/** The lines of one child, or several, under a plain top. */
export const tree = (children: string, strategy = "one_for_one"): string =>
  `version: 1\ntree:\n  strategy: ${strategy}\n  children:\n${children
    .split("\n")
    .map((line) => `    ${line}`)
    .join("\n")}\n`;
/** The line of the first of `tree`'s children. */
export const FIRST = 5;

export const nodeAt = (file: TreeFile, path: string): TreeNodeSpec => {
  let at: TreeNodeSpec = file.tree.root;
  for (const name of path.split("/"))
    at = (at as SupervisorNode).children.find((child) => child.name === name)!;
  return at;
};
export const specAt = (file: TreeFile, path: string): WorkerNode["spec"] =>
  (nodeAt(file, path) as WorkerNode).spec;

/** Paths in the order in which they start. */
export const startOrder = (node: SupervisorNode, above = ""): readonly string[] =>
  node.children.flatMap((child) => [
    `${above}${child.name}`,
    ...(child.type === "supervisor" ? startOrder(child, `${above}${child.name}/`) : []),
  ]);
