/** docs/reference/performance.md, from the last recorded figures of the benches (bench/results.json). */
import { type Recorded, recorded } from "../bench/results.ts";
import { table } from "./markdown.ts";

interface Question {
  readonly title: string;
  readonly words: string;
  readonly benches: readonly string[];
}

const QUESTIONS: readonly Question[] = [
  {
    title: "How does it stand beside other supervisors?",
    words: `Each supervises the same small C program as it is meant to be used: Holdfast by \`bin/agent\` and its daemon, the others by their own commands.
The program tells by itself, with the time of the kernel's clock, when it runs.
The bare Node loop writes each exit to disk, spawns the child again, and does nothing else; pm2, supervisord and runit keep no durable record of exits.
Once a second supervisord looks for children to start again, and runit starts a child at most once a second.
The supervisor's helpers count to it: launchers and the fork server of Holdfast, and \`runsv\` of runit.`,
    benches: ["peers"],
  },
  {
    title: "How long does one start stop everything else?",
    words: `A fork stops the event loop for as long as the process is large; the [fork server](../decisions/0036-a-fork-server.md) is small.`,
    benches: ["starts"],
  },
  {
    title: "What does a restart cost?",
    words: `\`restart\` has the launcher itself in a bare loop as its floor, so it tells what supervision adds, and not what a launcher costs.
\`supervisor\` drives the real fibers over a log in memory and agents that are objects; every worker crashes at once, round after round.
Its floor is a real start; bare Effect fibers, and OTP where \`erl\` is installed, stand beside it.`,
    benches: ["restart", "supervisor"],
  },
  {
    title: "What does a line of output cost?",
    words: `\`decode\` takes processor time, the better of 7 rounds in turns: each line is decoded, redacted without known secrets and bounded, and each event goes through every rule of \`agent event validate --strict\`.
\`masking\` takes the median of 15 rounds of 10,000 lines, with six known secrets, one of them a private key; its floor is the same ingest that masks nothing.
A flood rests beside other agents that have output (FLOOD_REST_TIMES in [the limits](limits.md)); alone it does not.`,
    benches: ["ingest", "latency", "stalled", "watchers", "decode", "masking"],
  },
  {
    title: "What does a request cost?",
    words:
      "The floor is a server of a few lines that sends each line back, or `node -e 0` for a whole command.",
    benches: ["requests", "startup"],
  },
  {
    title: "What do many workers cost?",
    words: "",
    benches: ["sleepers", "memory", "soak"],
  },
  {
    title: "How long do a boot and a stop take?",
    words: "A boot finds agents that run, agents that died meanwhile, and a log of any length.",
    benches: ["boot-adopt", "boot", "stop"],
  },
  {
    title: "How long does upkeep of the log hold up agents?",
    words:
      "Each figure is the processor time of one turn of the event loop, with a writer beside it; the writer's own checkpoints are the longest turns.",
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

Every measure stands beside a floor, or beside other supervisors, of the same run on the same machine, in turns.
Generated from \`bench/results.json\` by \`npm run docs\`.

    npm run bench                       # all of it; runs in a bare clone
    npm run bench -- peers requests     # some of it
    npm run bench -- --record peers     # and keeps the figures for this page

pm2, supervisord and runit are measured where they are installed: \`npm ci --prefix bench/peers\`, \`apt-get install supervisor runit\`.

${QUESTIONS.map(section).join("\n\n")}
`;
