/** One mailbox: who gets what and when, what a token is worth, and when a message dies. */
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { MAILBOX_ATTEMPTS_MAX, MAILBOX_DEAD_MAX, MAILBOX_MESSAGES_MAX } from "../../../src/base/limits.ts";
import { boxOf, mailStateOf, nextChange, readyMail } from "../../../src/control/mailbox/box.ts";
import { BoxHistory } from "./model.ts";

const states = (history: BoxHistory): Record<string, string> =>
  Object.fromEntries([...history.box].map(([id, entry]) => [id, mailStateOf(entry, history.mono_ms)]));
const ids = (got: readonly (readonly [string, number])[]): string[] => got.map(([id]) => id);

describe("a poll", () => {
  it("gets messages in the order in which they became visible, then of the log", () => {
    const history = new BoxHistory();
    history.send("late", { delay_ms: 500 });
    history.send("a");
    history.send("b");
    history.mono_ms = 600;
    history.send("c");
    expect(ids(history.poll(10))).toEqual(["a", "b", "late", "c"]);
  });

  it("gets nothing that is delayed or that somebody has", () => {
    const history = new BoxHistory();
    history.send("a");
    history.send("b", { delay_ms: 500 });
    expect(ids(history.poll(10))).toEqual(["a"]);
    expect(states(history)).toEqual({ a: "leased", b: "delayed" });
    expect(history.poll(10)).toEqual([]);
    history.mono_ms = 500;
    expect(ids(history.poll(10))).toEqual(["b"]);
  });

  it("gets again what was under a lease that has lapsed, with the next token", () => {
    const history = new BoxHistory();
    history.send("a");
    const [[, first] = []] = history.poll();
    history.mono_ms = 1_000;
    const [[, second] = []] = history.poll();
    expect(second).toBeGreaterThan(first as number);
    expect(history.refusal({ type: "ack", token: first as number, by: "user" })).toBe("LEASE_LOST");
    expect(history.refusal({ type: "ack", token: second as number, by: "user" })).toBeUndefined();
    expect(history.box.size).toBe(0);
  });
});

describe("a token", () => {
  it("holds after its lease, as long as nobody else has polled the message", () => {
    const history = new BoxHistory();
    history.send("a");
    const [[, token] = []] = history.poll();
    history.mono_ms = 5_000;
    expect(history.refusal({ type: "ack", token: token as number, by: "user" })).toBeUndefined();
  });

  it("is worth nothing once the message was given back", () => {
    const history = new BoxHistory();
    history.send("a");
    const [[, token] = []] = history.poll();
    history.input({ type: "nack", token: token as number, by: "user", delay_ms: 100, note: "busy" });
    expect(history.box.get("a")?.message.note).toBe("busy");
    expect(history.refusal({ type: "extend", token: token as number, by: "user", lease_ms: 1 })).toBe(
      "LEASE_LOST",
    );
    expect(history.poll()).toEqual([]);
    history.mono_ms = 100;
    expect(ids(history.poll())).toEqual(["a"]);
  });

  it("is kept by an extension, which begins the lease again", () => {
    const history = new BoxHistory();
    history.send("a");
    const [[, token] = []] = history.poll();
    history.mono_ms = 900;
    history.input({ type: "extend", token: token as number, by: "user", lease_ms: 1_000 });
    history.mono_ms = 1_800;
    expect(history.poll()).toEqual([]);
    expect(nextChange(history.box, history.mono_ms)).toBe(1_900);
    expect(history.refusal({ type: "ack", token: token as number, by: "user" })).toBeUndefined();
  });
});

describe("a dead letter", () => {
  it("is what was delivered as often as a message is, and never acknowledged", () => {
    const history = new BoxHistory();
    history.send("a");
    for (let n = 1; n <= MAILBOX_ATTEMPTS_MAX; n += 1) {
      expect(ids(history.poll())).toEqual(["a"]);
      history.mono_ms += 1_000;
    }
    expect(history.poll()).toEqual([]);
    expect(history.box.get("a")?.message.dead).toBe("attempts");
  });

  it("is made by the nack of the last attempt at once", () => {
    const history = new BoxHistory();
    history.send("a");
    for (let n = 1; n <= MAILBOX_ATTEMPTS_MAX; n += 1) {
      const [[, token] = []] = history.poll();
      history.input({ type: "nack", token: token as number, by: "user", delay_ms: 0 });
    }
    expect(history.box.get("a")?.message.dead).toBe("attempts");
  });

  it("is made by its time to live, but not while somebody has it", () => {
    const history = new BoxHistory();
    history.send("a", { ttl_ms: 500 });
    history.send("b", { ttl_ms: 500 });
    history.poll(1, 1_000);
    history.mono_ms = 500;
    history.input({ type: "look" });
    expect(states(history)).toEqual({ a: "leased", b: "dead" });
    history.mono_ms = 1_000;
    history.input({ type: "look" });
    expect(history.box.get("a")?.message.dead).toBe("expired");
  });

  it("is delivered as if it were new when it is sent again", () => {
    const history = new BoxHistory();
    history.send("a", { ttl_ms: 500 });
    history.mono_ms = 500;
    history.input({ type: "look" });
    expect(history.refusal({ type: "resend", message_id: "b", by: "user" })).toBe("MESSAGE_NOT_FOUND");
    history.input({ type: "resend", message_id: "a", by: "user" });
    expect(history.refusal({ type: "resend", message_id: "a", by: "user" })).toBe("INVALID_STATE");
    expect(history.box.get("a")?.expires_ms).toBe(1_000);
    expect(ids(history.poll())).toEqual(["a"]);
    expect(history.box.get("a")?.message.attempt).toBe(1);
  });

  it("beyond the bound takes the place of the oldest, on record", () => {
    const history = new BoxHistory();
    for (let round = 0; round < 2; round += 1) {
      for (let n = 0; n < MAILBOX_DEAD_MAX; n += 1) history.send(`${round}-${n}`, { ttl_ms: 1 });
      history.mono_ms += 1;
      while (history.input({ type: "look" }).length > 0);
    }
    expect(history.box.size).toBe(MAILBOX_DEAD_MAX);
    expect([...history.box.keys()].every((id) => id.startsWith("1-"))).toBe(true);
    expect(history.records.filter(({ type }) => type === "mailbox_dropped")).toHaveLength(MAILBOX_DEAD_MAX);
  });
});

it("a send to a box that is full is refused, and changes nothing", () => {
  const history = new BoxHistory();
  for (let n = 0; n < MAILBOX_MESSAGES_MAX; n += 1) history.send(String(n));
  const sent = { message_id: "x", from: "user", type: "cmd", payload: 1, ttl_ms: 1, delay_ms: 0 } as const;
  expect(history.refusal({ type: "send", sent })).toBe("QUEUE_FULL");
  expect(history.box.has("x")).toBe(false);
  const [[, token] = []] = history.poll();
  history.input({ type: "ack", token: token as number, by: "user" });
  expect(history.refusal({ type: "send", sent })).toBeUndefined();
});

it("the next daemon finds the box as it was, in the same boot", () => {
  const history = new BoxHistory();
  history.send("a");
  history.send("b", { delay_ms: 700 });
  history.poll();
  history.mono_ms = 300;
  const messages = [...history.box.values()].map(({ message }) => message);
  expect(boxOf(messages, history.time())).toEqual(history.box);
});

it("after another boot no lease is longer than it was", () => {
  const history = new BoxHistory();
  history.send("a");
  history.poll(1, 10_000);
  const messages = [...history.box.values()].map(({ message }) => message);
  const { wall_ms } = history.time();
  const leftAt = (wall: number) =>
    boxOf(messages, { boot_id: "next", mono_ms: 50, wall_ms: wall }).get("a")?.hidden_ms;
  expect(leftAt(wall_ms + 4_000)).toBe(50 + 6_000);
  expect(leftAt(wall_ms - 86_400_000)).toBe(50 + 10_000);
  expect(leftAt(wall_ms + 86_400_000)).toBe(50);
});

/** A mailbox as a list of cells: everything it can do, without records. */
class SimpleBox {
  cells: {
    id: string;
    order: number;
    visible: number;
    expires: number;
    attempt: number;
    token: number | null;
    dead: boolean;
  }[] = [];
  look(now: number): void {
    for (const cell of this.cells) {
      if (cell.dead || (cell.token !== null && cell.visible > now)) continue;
      cell.dead = cell.attempt >= MAILBOX_ATTEMPTS_MAX || cell.expires <= now;
      if (cell.dead) cell.token = null;
    }
  }
  poll(now: number, limit: number): string[] {
    this.look(now);
    return this.cells
      .filter(({ dead, visible }) => !dead && visible <= now)
      .sort((a, b) => a.visible - b.visible || a.order - b.order)
      .slice(0, limit)
      .map(({ id }) => id);
  }
}

it("does what a simple model does, whatever is asked and however time goes", () => {
  const step = fc.oneof(
    {
      weight: 4,
      arbitrary: fc.record({
        do: fc.constant("send" as const),
        ttl_ms: fc.integer({ min: 1, max: 5_000 }),
        delay_ms: fc.integer({ min: 0, max: 800 }),
      }),
    },
    {
      weight: 4,
      arbitrary: fc.record({
        do: fc.constant("poll" as const),
        limit: fc.integer({ min: 1, max: 3 }),
        lease_ms: fc.integer({ min: 1, max: 900 }),
      }),
    },
    {
      weight: 3,
      arbitrary: fc.record({
        do: fc.constantFrom("ack" as const, "nack" as const, "extend" as const),
        which: fc.nat(40),
        ms: fc.integer({ min: 0, max: 900 }),
      }),
    },
    { weight: 1, arbitrary: fc.record({ do: fc.constant("resend" as const), which: fc.nat(40) }) },
    {
      weight: 3,
      arbitrary: fc.record({ do: fc.constant("wait" as const), ms: fc.integer({ min: 0, max: 700 }) }),
    },
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const history = new BoxHistory();
      const model = new SimpleBox();
      const tokens: number[] = [];
      const last = () => history.records.length;
      for (const one of steps) {
        const now = history.mono_ms;
        if (one.do === "wait") history.mono_ms += one.ms;
        else if (one.do === "send") {
          model.look(now);
          const id = `m${model.cells.length}`;
          history.send(id, one);
          model.cells.push({
            id,
            order: last(),
            visible: now + one.delay_ms,
            expires: now + one.ttl_ms,
            attempt: 0,
            token: null,
            dead: false,
          });
        } else if (one.do === "poll") {
          const wanted = model.poll(now, one.limit);
          const got = history.poll(one.limit, one.lease_ms);
          expect(ids(got)).toEqual(wanted);
          for (const [id, token] of got) {
            const cell = model.cells.find((each) => each.id === id)!;
            Object.assign(cell, { token, attempt: cell.attempt + 1, visible: now + one.lease_ms });
            tokens.push(token);
          }
        } else if (one.do === "resend") {
          model.look(now);
          history.input({ type: "look" });
          const cell = model.cells[one.which % Math.max(1, model.cells.length)];
          const refused = history.refusal({ type: "resend", message_id: cell?.id ?? "none", by: "user" });
          expect(refused === undefined).toBe(cell?.dead === true);
          if (refused !== undefined || cell === undefined) continue;
          Object.assign(cell, {
            dead: false,
            attempt: 0,
            visible: now,
            expires: now + history.box.get(cell.id)!.message.ttl.after_ms,
          });
        } else {
          model.look(now);
          const token = tokens[one.which % Math.max(1, tokens.length)] ?? -1;
          const cell = model.cells.find((each) => each.token === token);
          const asked = { token, by: "user" };
          const refused =
            one.do === "ack"
              ? history.refusal({ type: "ack", ...asked })
              : one.do === "nack"
                ? history.refusal({ type: "nack", ...asked, delay_ms: one.ms })
                : history.refusal({ type: "extend", ...asked, lease_ms: one.ms });
          expect(refused).toBe(cell === undefined ? "LEASE_LOST" : undefined);
          if (cell === undefined) continue;
          if (one.do === "ack") model.cells = model.cells.filter((each) => each !== cell);
          else if (one.do === "extend") cell.visible = now + one.ms;
          else {
            Object.assign(cell, { token: null, visible: now + one.ms });
            cell.dead = cell.attempt >= MAILBOX_ATTEMPTS_MAX;
          }
        }
        const messages = [...history.box.values()].map(({ message }) => message);
        expect(readyMail(boxOf(messages, history.time()), history.mono_ms)).toEqual(
          readyMail(history.box, history.mono_ms),
        );
      }
    }),
    { numRuns: 300 },
  );
});
