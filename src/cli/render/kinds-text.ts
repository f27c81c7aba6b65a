/** The capabilities of kinds, and the MCP servers of their CLIs, as text for people. */
import type { McpReply } from "../../daemon/mcp.ts";
import type { Replies } from "../../daemon/replies.ts";
import { pairs } from "./pairs.ts";
import { neutralise, table } from "./terminal.ts";
import type { TextOf } from "./text.ts";

type Kind = Pick<
  Replies["agent/capabilities"]["kinds"][number],
  "kind" | "aliases" | "summary" | "capabilities" | "binary" | "module"
> & { readonly path: string | null };

const programOf = ({ binary, path }: Kind): string =>
  binary === null ? "yours" : (path ?? `${binary}: not found`);

export const capabilities: TextOf<{ readonly kinds: readonly Kind[] }> = ({ kinds }, { paint, columns }) => {
  const [kind] = kinds;
  if (kind !== undefined && kinds.length === 1)
    return pairs(paint, [
      ["kind", kind.kind],
      ["short names", kind.aliases.join(", ")],
      ["what", kind.summary],
      ["program", programOf(kind)],
      ...(kind.module === null ? [] : [["adapter", kind.module] as const]),
      ...kind.capabilities.map((each, at) => [at === 0 ? "can" : "", each] as const),
    ]);
  const rows = kinds.map((each) => [
    each.kind,
    each.aliases.join(", ") || "–",
    programOf(each),
    each.summary,
  ]);
  return table([["KIND", "SHORT", "PROGRAM", "WHAT"].map((cell) => paint("dim", cell)), ...rows], {
    fit: columns,
  });
};

export const mcpText: TextOf<McpReply> = ({ stdout, stderr }) =>
  [stdout, stderr]
    .map((text) => neutralise(text.trimEnd()))
    .filter((text) => text !== "")
    .join("\n");
