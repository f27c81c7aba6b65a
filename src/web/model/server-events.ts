/** Reads a stream of server-sent events in pieces, as they come (WHATWG HTML, Server-sent events). Pure. */

interface ServerEvent {
  readonly type: string;
  readonly id: string;
  readonly data: string;
}

const fieldOf = (line: string): readonly [name: string, value: string] => {
  const at = line.indexOf(":");
  if (at === -1) return [line, ""];
  return [line.slice(0, at), line.slice(line[at + 1] === " " ? at + 2 : at + 1)];
};

const eventOf = (block: string): ServerEvent | undefined => {
  const fields = block.split("\n").map(fieldOf);
  const all = (name: string): readonly string[] =>
    fields.flatMap(([each, value]) => (each === name ? [value] : []));
  const data = all("data");
  if (data.length === 0) return undefined;
  return { type: all("event").at(-1) ?? "message", id: all("id").at(-1) ?? "", data: data.join("\n") };
};

/** Returns a function that takes the next piece of text, and gives the events that it completes. */
export const makeEventReader = (): ((piece: string) => readonly ServerEvent[]) => {
  let rest = "";
  return (piece) => {
    const blocks = `${rest}${piece}`.split("\n\n");
    rest = blocks.pop() ?? "";
    return blocks.flatMap((block) => eventOf(block) ?? []);
  };
};
