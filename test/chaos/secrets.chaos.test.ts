/**
 * Promise R34: known secret values never reach the log, its projections, the answers to clients or the daemon's own log. The run
 * directories are the declared exception. Every file of the state directory is searched, and everything that a client is told.
 */
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { expect, test } from "vitest";
import { figure } from "../support/figures.ts";
import { type Daemon, environment, startDaemon, temporaryDirectory, until } from "./support.ts";

const PLAIN = "canaryhead-4f1d8e2b-canarytail";
/** Every encoder writes it otherwise. */
const TRICKY = 'canaryquote"back\\slash-é-canaryend';
const LINES = "canaryfirst-77aa\ncanarysecond-88bb";
const ARGUMENT = "canaryargument-99cc";
/** Secrets that no one may find, also not as the part that a cut left. */
const NEEDLES = [
  "canaryhead",
  "canarytail",
  "canaryquote",
  "canaryend",
  "canaryfirst",
  "canarysecond",
  "canaryargument",
  ...["base64", "base64url", "hex"].flatMap((how) =>
    // Without the characters that it shares with what stands before and after it.
    [0, 1, 2].map((before) =>
      Buffer.from(`${"x".repeat(before)}${PLAIN}`)
        .toString(how as BufferEncoding)
        .slice(4, 24),
    ),
  ),
  Buffer.from(PLAIN).toString("hex").toUpperCase().slice(4, 24),
];

/** Says what it knows in every way that an agent might. */
const TELLTALE = `
const { PLAIN_TOKEN: plain, TRICKY_TOKEN: tricky, FROM_FILE: file } = process.env;
const pause = () => new Promise((done) => setTimeout(done, 300));
const out = (text) => process.stdout.write(text);
const pad = (length) => "x".repeat(length);
const line = (value) => out(JSON.stringify(value) + "\\n");
const asAgent = async () => {
  line({ type: "system", subtype: "init", session_id: "s-1", model: plain });
  line({ type: "assistant", session_id: "s-1", message: { id: "m-1", content: [
    { type: "text", text: "I know " + plain + " and " + tricky + " " + pad(65530) + plain },
    { type: "tool_use", id: "t-1", name: plain, input: { command: "curl -H " + tricky, deep: JSON.stringify({ plain, tricky }) } },
  ] } });
  line({ type: "user", message: { content: [{ type: "tool_result", tool_use_id: "t-1", content: file, is_error: true }] } });
  await pause();
  const result = pad(44 * 1024 - 12) + plain + tricky;
  line({ type: "result", subtype: "error_during_execution", is_error: true, session_id: "s-1", num_turns: 1, duration_ms: 5,
    result, errors: [pad(4084) + plain, tricky], stop_reason: plain });
  process.stderr.write("fatal: " + plain + "\\n");
  process.exit(1);
};
const asCommand = async () => {
  out("plain " + plain + "\\n" + tricky + "\\n" + file + "\\n");
  process.stderr.write("error: " + plain + " " + tricky + "\\n");
  for (const before of [65536 - 15, 65536 - 1, 65536, 131072 - 20]) out(pad(before) + plain + pad(50) + tricky + "\\n");
  line({ plain, tricky, inner: JSON.stringify({ tricky }), file });
  out(encodeURIComponent(tricky) + "\\n" + JSON.stringify(tricky).replace("é", "\\\\u00e9") + "\\n");
  for (const how of ["base64", "base64url", "hex"]) {
    out(Buffer.from(plain).toString(how) + "\\n" + Buffer.from("user:" + plain).toString(how) + "\\n");
  }
  out(Buffer.from("{" + plain + "}").toString("hex").toUpperCase() + "\\n");
  out(process.argv.slice(2).join(" ") + "\\n");
  out("first half " + plain.slice(0, 14));
  await pause();
  out(plain.slice(14) + " second half\\n" + pad(262144 - 7) + plain + "\\n" + plain);
};
process.argv.includes("stream-json") ? asAgent() : asCommand();
`;

const filesBelow = (dir: string): string[] =>
  (readdirSync(dir, { recursive: true }) as string[]).map((name) => join(dir, name));

/** Places of canaries that should not be there. */
const leaksIn = (texts: Readonly<Record<string, string>>): string[] =>
  Object.entries(texts).flatMap(([place, text]) =>
    NEEDLES.filter((needle) => text.includes(needle)).map((needle) => {
      const at = text.indexOf(needle);
      return `${place}: ${JSON.stringify(text.slice(Math.max(0, at - 60), at + 60))}`;
    }),
  );

const filesOf = (daemon: Daemon): Record<string, string> =>
  Object.fromEntries(
    [...filesBelow(daemon.stateDir), `${daemon.stateDir}.said`].flatMap((path) => {
      const place = relative(daemon.stateDir, path);
      return place.startsWith("runs") || !statSync(path).isFile()
        ? []
        : [[place, readFileSync(path, "latin1")]];
    }),
  );

test("no known secret is found outside of the run directories, as it is, escaped or encoded", {
  timeout: 240_000,
}, async () => {
  const dir = temporaryDirectory();
  const [script, secret] = [join(dir, "telltale.cjs"), join(dir, "secret")];
  const agent = join(dir, "claude");
  writeFileSync(script, TELLTALE);
  writeFileSync(secret, `${LINES}\n`);
  writeFileSync(agent, `#!/bin/sh\nexec '${process.execPath}' '${script}' "$@"\n`, { mode: 0o700 });
  let daemon = await startDaemon();
  const env = { PLAIN_TOKEN: "@env:SOME_VARIABLE", TRICKY_TOKEN: TRICKY, FROM_FILE: `@file:${secret}` };
  const client_env = { ...environment(), SOME_VARIABLE: PLAIN, CLAUDE_BINARY: agent };
  const over = {
    env,
    client_env,
    max_restarts: 1,
    labels: { note: PLAIN },
    restart: "transient" as const,
  };
  const argv = [process.execPath, script, "--api-key", ARGUMENT, `--auth-token=${ARGUMENT}`, PLAIN, TRICKY];
  const commands = [
    await daemon.spawn(argv, over),
    await daemon.spawn(["/bin/sh", "-c", `exit 3; # ${PLAIN}`], over),
  ];
  const { id: claude } = await daemon.request<{ id: string }>("agent/spawn", {
    spec: {
      kind: "claude_code",
      prompt: `Use ${PLAIN}, ${TRICKY} and ${LINES}.`,
      cwd: "/",
      ...over,
    },
  });
  const ids = [...commands, claude];
  const refusals: Record<string, string> = {};
  for (const [what, spec] of Object.entries({
    program: { argv: [`/nonexistent/${PLAIN}`] },
    cwd: { argv: ["true"], cwd: `/nonexistent/${PLAIN}` },
  }))
    refusals[what] = String(await daemon.spawn(spec.argv, { ...over, ...spec }).catch((cause) => cause));
  for (const text of Object.values(refusals)) expect(text).toContain("***");

  // In the middle: what a decoder remembers is in the database then.
  await until("all have begun", async () => (await daemon.history(["agent.event"], [claude])).length > 0);
  await daemon.kill9();
  const before = filesOf(daemon);
  daemon = await startDaemon(daemon.stateDir);
  await daemon.wait(ids);

  const answers: Record<string, string> = { ...refusals };
  for (const command of ["info", "why", "output", "logs"])
    for (const id of ids)
      answers[`${command} ${id}`] = await daemon.agent(command, id).catch((cause) => String(cause.stdout));
  for (const command of [["list", "--all"], ["tree"], ["watch", ...ids, "--from", "0"], ["daemon", "status"]])
    answers[command.join(" ")] = await daemon.agent(...command);
  const events = await daemon.history(["agent.event"], [commands[0] as string]);
  expect(events.length).toBeGreaterThan(10);
  expect(JSON.stringify(events)).toContain("first half *** second half");
  expect(await daemon.info(claude)).toMatchObject({ state: "failed" });

  const leaks = [
    ...leaksIn(Object.fromEntries(Object.entries(before).map(([name, text]) => [`before: ${name}`, text]))),
    ...leaksIn(filesOf(daemon)),
    ...leaksIn(answers),
  ];
  expect(leaks).toEqual([]);
  const searched =
    Object.keys(before).length + Object.keys(filesOf(daemon)).length + Object.keys(answers).length;
  figure("R34", {
    rounds: searched,
    failures: leaks.length,
    note: "files of the state directory without runs/, and answers to clients, searched for seven canaries",
  });
});
