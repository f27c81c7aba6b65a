/** Mailboxes as an agent uses them from its own shell, and as a person does from outside. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { makeDataCheck } from "../../../src/cli/data-check.ts";
import { schemasOf } from "../../../src/cli/manifest.ts";
import { COMMANDS } from "../../../src/commands/commands.ts";
import { AGENT } from "../../support/built.ts";
import { type Commands, makeCommands } from "../support/commands.ts";

let commands: Commands;
beforeAll(() => {
  commands = makeCommands();
});
afterAll(() => commands.close());

const DEFINED = `agent() { ${process.execPath} ${AGENT} "$@"; }`;
/** The token of the first line of a poll. */
const TOKEN = 'token=$(printf "%s\\n" "$got" | sed -n "1s/.*token \\([0-9]*\\),.*/\\1/p")';

/** A worker that answers each question with what it was asked, in capitals. */
const ECHO = `${DEFINED}
while got=$(agent mailbox poll --wait -o text); do
  ${TOKEN}
  text=$(printf "%s\\n" "$got" | sed -n "2,\\$p" | tr a-z A-Z)
  agent mailbox ack "$token" --reply "$text" >/dev/null || exit 1
done`;

/** In JSON; the data are what the schema of the command says. */
const told = async (verb: string, ...argv: string[]) => {
  const { data, error, exit } = await commands.agent("mailbox", verb, ...argv);
  if (error === null) {
    const { output } = schemasOf(COMMANDS.find(({ command }) => command === `mailbox/${verb}`)!) as {
      output: object;
    };
    expect(makeDataCheck(output)(data)).toBeUndefined();
  }
  return { data: data as Record<string, never>, code: error?.code, exit };
};
const polled = async (
  ...argv: string[]
): Promise<{ message_id: string; token: number; payload: unknown }[]> =>
  (await told("poll", ...argv)).data.messages as never;

describe("a worker that polls", () => {
  it("is asked, by people and by other workers, and answers from its own shell", async () => {
    await commands.agent("spawn", "--name", "echo", "--", "sh", "-c", ECHO);
    const { data } = await commands.agent("ask", "echo", "is it so?", "--timeout", "60s");
    expect(data).toMatchObject({ text: "IS IT SO?", turn: null });
    const script = `${DEFINED}; agent ask echo 'from inside' -o text`;
    await commands.agent("spawn", "--name", "asker", "--wait", "--", "sh", "-c", script);
    expect((await commands.text("output", "asker")).stdout.trim()).toBe("FROM INSIDE");
    expect((await told("list", "echo")).data).toEqual([]);
  });

  it("reads no mailbox but its own", async () => {
    const script = `${DEFINED}; agent mailbox poll echo -o text; agent mailbox list user -o text`;
    await commands.agent("spawn", "--name", "thief", "--wait", "--", "sh", "-c", script);
    const { stdout } = await commands.text("logs", "thief");
    expect(stdout.match(/may not read the mailbox/g)).toHaveLength(2);
    // Its poll would be one more request in flight.
    await commands.agent("kill", "echo");
  });
});

describe("a person", () => {
  it("polls, extends, gives back, acknowledges and answers a message of any worker", async () => {
    await commands.agent("spawn", "--name", "sleeper", "--", "sleep", "1000");
    await told("send", "sleeper", "one");
    const [first] = await polled("sleeper");
    expect(first!.payload).toBe("one");
    expect((await told("extend", String(first!.token), "--lease", "1h")).data.state).toBe("leased");
    expect((await told("nack", String(first!.token), "--note", "later")).data.state).toBe("ready");
    expect((await told("ack", String(first!.token))).code).toBe("LEASE_LOST");
    expect((await told("show", first!.message_id)).data).toMatchObject({ note: "later", attempt: 1 });
    const [again] = await polled("sleeper");
    await told("ack", String(again!.token), "--reply", "done");
    expect(await polled()).toMatchObject([
      { type: "reply", payload: "done", correlation_id: first!.message_id },
    ]);
    expect((await told("reply", first!.message_id, "twice")).data.effect).toBe("noop");
  });

  it("sees dead letters, sends them again, and drops them", async () => {
    const { data } = await told("send", "sleeper", "too late", "--ttl", "1ms");
    const id = data.message_id as unknown as string;
    for (;;) {
      const { data: dead } = await told("list", "sleeper", "--dead");
      if ((dead as unknown as { message_id: string }[]).some(({ message_id }) => message_id === id)) break;
    }
    expect((await told("show", id)).data).toMatchObject({ state: "dead", cause: "expired" });
    const shown = await commands.text("mailbox", "show", id);
    expect(shown.stdout).toContain("too late");
    expect((await told("resend", id)).data.to).toBeDefined();
    await told("drop", id);
    expect((await told("show", id)).code).toBe("MESSAGE_NOT_FOUND");
  });

  it("is told at once that a worker reads no mailbox, and a poll that waits goes on with the next daemon", async () => {
    expect((await commands.agent("ask", "sleeper", "anybody?")).error?.code).toBe("UNSUPPORTED_CAPABILITY");
    const waiting = commands.start(["-o", "text", "mailbox", "poll", "sleeper", "--wait"]);
    const inFlight = async () => (await commands.agent("daemon", "status")).data.requests_in_flight as number;
    // Its own, and that of the poll.
    while ((await inFlight()) < 2);
    await commands.killDaemon();
    await commands.agent("daemon", "start");
    await told("send", "sleeper", "still there");
    expect(await waiting.ended).toMatchObject({ stdout: expect.stringContaining("still there") });
  });
});
