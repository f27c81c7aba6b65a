/** docs/reference/performance.md, and a table for the README and docs/compared.md, from the last recorded figures of the benches (bench/results.json). */
import { dirname, relative } from "node:path";
import { type Recorded, recorded } from "../bench/results.ts";
import { table } from "./markdown.ts";

interface Question {
  readonly title: string;
  readonly words: string;
  readonly benches: readonly string[];
}

const QUESTIONS: readonly Question[] = [
  {
    title: "How does it compare with other supervisors?",
    words: `Each supervisor runs the same small C program in its usual way: Holdfast by \`bin/agent\` and its daemon, the others by their own commands.
The program itself reports, with the time of the kernel's clock, that it runs.
The bare Node loop writes each exit to disk, spawns the child again, and does nothing else; pm2, supervisord and runit keep no durable record of exits.
supervisord looks for children to restart once a second, and runit starts a child at most once a second.
The figures include a supervisor's helpers: launchers and the fork server of Holdfast, and \`runsv\` of runit.`,
    benches: ["peers"],
  },
  {
    title: "How long does a start block everything else?",
    words: `A fork blocks the event loop longer the larger the process is; the [fork server](../decisions/0036-a-fork-server.md) is small.`,
    benches: ["starts"],
  },
  {
    title: "What does a restart cost?",
    words: `The floor of \`restart\` is the launcher in a bare loop, so the figure is what supervision adds, without the cost of a launcher.
\`supervisor\` drives the real fibers over a log in memory and agents that are objects; every worker crashes at once, round after round.
Its floor is a real start; bare Effect fibers, and OTP if \`erl\` is installed, are measured for comparison.`,
    benches: ["restart", "supervisor"],
  },
  {
    title: "What does a line of output cost?",
    words: `\`decode\` measures processor time, the best of 7 alternating rounds: each line is decoded, redacted without known secrets and bounded, and each event is checked against every rule of \`agent event validate --strict\`.
\`masking\` measures the median of 15 rounds of 10,000 lines, with six known secrets, one of them a private key; its floor is the same ingest without masking.
\`telemetry\` is the same ingest as \`ingest\` with a collector, in processor time of the daemon; its floor is the daemon without one.
\`cluster\` copies the log to a Postgres on the same machine, without fsync: how many records are in the copy when all are in the log.
\`cluster-running\` has 10,000 placed workers that sleep on three nodes of one machine.
A flood is slowed down while other agents have output (FLOOD_REST_TIMES in [the limits](limits.md)), but not when it is alone.`,
    benches: [
      "ingest",
      "latency",
      "stalled",
      "watchers",
      "decode",
      "masking",
      "telemetry",
      "cluster",
      "cluster-running",
    ],
  },
  {
    title: "What does a request cost?",
    words: `The floor is a small server that sends each line back, or \`node -e 0\` for a whole command.
\`hosts\` asks another host over \`exec:\` and over ssh on this machine: a request over a connection that is open is measured beside the same request to the socket, or beside \`cat\` over the same ssh; a whole command starts the program of the host too.
\`weblisk\` asks \`agent weblisk serve\` for its directory with a token, whose signature is verified each time; its floor is node:http that verifies one.`,
    benches: ["requests", "http", "weblisk", "startup", "hosts"],
  },
  {
    title: "What does a live view cost?",
    words: "The floor is the same view while nobody prints.",
    benches: ["top", "dashboard"],
  },
  {
    title: "How soon is a person told?",
    words:
      "From the record of an agent's request for permission to the server of a webhook, on the same machine; the daemon of the second row is killed with SIGKILL once the request is on record, and the next one tells it.",
    benches: ["notify"],
  },
  {
    title: "What does the engine cost?",
    words:
      "The model is a script that answers at once, so all of the time is the engine's; the journal is synced before each deed.",
    benches: ["engine"],
  },
  {
    title: "What do many workers cost?",
    words: "",
    benches: ["sleepers", "memory", "soak"],
  },
  {
    title: "How long do a boot and a stop take?",
    words: "A boot finds running agents, agents that died meanwhile, and a log of any length.",
    benches: ["boot-adopt", "boot", "stop"],
  },
  {
    title: "How long does upkeep of the log delay agents?",
    words:
      "Each figure is the processor time of one turn of the event loop, while a writer runs; the writer's own checkpoints are the longest turns.",
    benches: ["turns"],
  },
];

/** A line for each run, since the benches of a question may have run on different days. */
const runsOf = (runs: readonly Recorded[]): string =>
  runs.map(({ date, machine, command }) => `- ${date}, ${machine}: \`${command}\``).join("\n");

const section = ({ title, words, benches }: Question): string => {
  const all = recorded();
  const runs = benches.flatMap((name) => all[name] ?? []);
  const rows = runs.flatMap((run) => run.rows);
  return [`## ${title}`, words, table(runs[0]?.head ?? [], rows), runsOf(runs)]
    .filter((part) => part !== "")
    .join("\n\n");
};

export const performancePage = (): string => `# Performance

Every measure is compared with a floor, or with other supervisors, in alternating rounds of one run on one machine.
Generated from \`bench/results.json\` by \`npm run docs\`.

    npm run bench                       # all of it; runs in a bare clone
    npm run bench -- peers requests     # some of it
    npm run bench -- --record peers     # and records the figures for this page

pm2, supervisord and runit are measured if they are installed: \`npm ci --prefix bench/peers\`, \`apt-get install supervisor runit\`.

${QUESTIONS.map(section).join("\n\n")}
`;

/** Rows of `peers`, under shorter names. */
const IN_SHORT: readonly (readonly [start: string, end: string, name: string])[] = [
  ["SIGKILL → first line", "one a second, p50 / p99 ms", "restart, p50 / p99 ms"],
  ["start of 200 sleepers", "", "start of 200 sleepers, s"],
  ["idle CPU with 200", "", "idle with 200, % of a core"],
  ["memory with 200", "", "memory with 200, PSS, MB"],
  ["status command with 200", "", "status command, in starts of Node"],
];
const SHOWN = ["pm2", "supervisord", "runit", "Holdfast", "asked"];
const BEGIN = "<!-- performance: written by npm run docs -->\n";
const END = "<!-- end of performance -->";

const shortTable = (file: string): string => {
  const { date, machine, command, head, rows } = recorded().peers as Recorded;
  const columns = SHOWN.map((name) => head.indexOf(name));
  const body = IN_SHORT.map(([start, end, name]) => {
    const row = rows.find(([measure = ""]) => measure.startsWith(start) && measure.endsWith(end));
    if (row === undefined || columns.includes(-1)) throw new Error(`bench/results.json has no row: ${start}`);
    const verdict = row.at(-1) === "ok" ? "yes" : "no";
    return [name, ...columns.map((column) => (row[column] as string).replaceAll(" times ", " × ")), verdict];
  });
  const met = rows.filter((row) => row.at(-1) === "ok").length;
  return [
    table(["", ...SHOWN.slice(0, -1), "goal", "met"], body),
    "",
    `Holdfast meets ${met} of its ${rows.length} goals beside other supervisors; [all figures](${relative(dirname(file), "docs/reference/performance.md")}).`,
    `Recorded on ${date}, ${machine.replace(/,.*/, "")}, by \`${command}\`.`,
    "",
  ].join("\n");
};

/** A page with its table written anew. */
export const withPerformance = (file: string, page: string): string => {
  const [before, after] = [page.indexOf(BEGIN), page.indexOf(END)];
  if (before < 0 || after < before) throw new Error(`${file} has no place for its table of performance`);
  return `${page.slice(0, before)}${BEGIN}${shortTable(file)}${page.slice(after)}`;
};
