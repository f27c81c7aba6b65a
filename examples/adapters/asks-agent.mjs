#!/usr/bin/env node
// The program of asks.mjs: it answers each message, and asks before it does what a message orders ("do ...").

/** Lines end at \n alone. The lines of node:readline also end at U+2028, which a text in JSON may have. */
async function* linesOf(input) {
  let rest = "";
  for await (const text of input.setEncoding("utf8")) {
    const lines = (rest + text).split("\n");
    rest = lines.pop();
    yield* lines;
  }
}

const say = (line) => process.stdout.write(`${JSON.stringify(line)}\n`);
let asked;
for await (const text of linesOf(process.stdin)) {
  const line = JSON.parse(text);
  // An answer may have a message, too: its reason.
  if (line.message !== undefined && line.permission === undefined) {
    say({ taken: line.message });
    const [, order] = /^do (.*)$/s.exec(line.text) ?? [];
    if (order === undefined) {
      say({ say: `you said: ${line.text}` });
      say({ done: true });
    } else {
      asked = order;
      say({ ask: line.message, tool: "Shell", input: { command: order } });
    }
  } else if (asked !== undefined) {
    if (line.stop) say({ say: "stopped" });
    else {
      const why = line.message === undefined ? "" : ` (${line.message})`;
      say({ say: line.decision === "allow" ? `did: ${asked}` : `did not: ${asked}${why}` });
    }
    asked = undefined;
    say({ done: true });
  }
}
