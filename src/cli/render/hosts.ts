/** The answers of several hosts for people: one table with a column of hosts where there is one, else a section a host. */
import { answersIn } from "./host-rows.ts";
import { oneLine } from "./terminal.ts";
import { renderText, type TextContext } from "./text.ts";
import { usageOfHosts } from "./usage.ts";

const HOST_COLUMNS = 60;

/** Commands whose own text has a column for the host of each row. */
const WITH_COLUMN: ReadonlySet<string> = new Set(["agent/list", "agent/inbox"]);

export const renderHosts = (command: string, value: object, context: TextContext): string => {
  if (WITH_COLUMN.has(command)) return renderText(command, value, context);
  if (command === "agent/usage") return usageOfHosts(value as Parameters<typeof usageOfHosts>[0], context);
  const { paint } = context;
  return [...answersIn(command, value)]
    .flatMap(([host, answer]) => {
      const text = renderText(command, answer, context);
      return text === "" ? [] : [`${paint("bold", oneLine(host, HOST_COLUMNS))}\n${text.trimEnd()}`];
    })
    .join("\n\n");
};
