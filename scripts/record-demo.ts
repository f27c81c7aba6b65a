/**
 * Makes docs/demo.svg, the picture on the README's first screen, from the real output of `agent demo` on a terminal
 * (util-linux `script` gives it one). Run it by hand when the demo changes: `node scripts/record-demo.ts`.
 */
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";

const root = join(import.meta.dirname, "..");
const COLUMNS = 108;
const FONT_PX = 13;
const LINE_PX = 18;
const CHAR_PX = 7.83;
const PADDING_PX = 18;
const TITLE_PX = 34;

const output = execFileSync(
  "script",
  ["-qec", `stty cols ${COLUMNS} rows 80; '${process.execPath}' bin/agent demo`, "/dev/null"],
  {
    cwd: root,
    encoding: "utf8",
    env: {
      PATH: process.env.PATH ?? "",
      HOME: process.env.HOME ?? "/",
      TERM: "xterm-256color",
      LANG: "C.UTF-8",
      COLUMNS: String(COLUMNS),
    },
    stdio: ["ignore", "pipe", "inherit"],
  },
);

/** SGR codes that the command prints, as classes of the picture. */
const CLASSES: Readonly<Record<string, string>> = {
  1: "b",
  2: "d",
  31: "r",
  32: "g",
  33: "y",
  34: "u",
  35: "m",
  36: "c",
  90: "d",
};
const escapeXml = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

/** Every other control sequence (a progress line that rewrites itself) is dropped with the text that it erases. */
const lines = output
  .replaceAll("\r\n", "\n")
  .split("\n")
  .map((line) => line.split("\r").at(-1) ?? "")
  .map((line) => line.replace(/\u001b\[[0-9;?]*[A-LN-Zac-ln-z]/g, ""));

const toSpans = (line: string): string => {
  const active = new Set<string>();
  return line
    .split(/(\u001b\[[0-9;]*m)/)
    .map((part) => {
      const sgr = /^\u001b\[([0-9;]*)m$/.exec(part)?.[1];
      if (sgr === undefined)
        return part === "" ? "" : `<tspan class="${[...active].join(" ")}">${escapeXml(part)}</tspan>`;
      for (const code of sgr.split(";")) {
        const name = CLASSES[code];
        if (name !== undefined) active.add(name);
        else if (code === "0" || code === "" || code === "39" || code === "22") active.clear();
      }
      return "";
    })
    .join("");
};

while (lines.at(-1)?.trim() === "") lines.pop();
const width = Math.round(COLUMNS * CHAR_PX + 2 * PADDING_PX);
const height = TITLE_PX + (lines.length + 1) * LINE_PX + PADDING_PX;
const rows = ['<tspan class="d">$</tspan> npm run demo', ...lines.map(toSpans)]
  .map(
    (spans, row) =>
      `<text x="${PADDING_PX}" y="${TITLE_PX + (row + 1) * LINE_PX}" xml:space="preserve">${spans}</text>`,
  )
  .join("\n");
const dots = ["#ff5f57", "#febc2e", "#28c840"]
  .map((fill, n) => `<circle cx="${20 + n * 18}" cy="17" r="5.5" fill="${fill}"/>`)
  .join("");

writeFileSync(
  join(root, "docs/demo.svg"),
  `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-label="The output of agent demo: an agent crashes and is restarted, the daemon is killed and its successor adopts the agents, a stubborn agent and its hidden child are ended.">
<style>text{font:${FONT_PX}px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;fill:#d6deeb}.b{font-weight:700;fill:#fff}.d{fill:#7f8c9f}.r{fill:#ff7b72}.g{fill:#7ee787}.y{fill:#f2cc60}.u{fill:#79c0ff}.m{fill:#d2a8ff}.c{fill:#76e3ea}</style>
<rect width="${width}" height="${height}" rx="10" fill="#0d1117"/>
${dots}
${rows}
</svg>
`,
);
