import { expect, it } from "vitest";
import {
  type RequestIdFiles,
  RequestIdTable,
  requestDigest,
} from "../../../src/weblisk/server/request-ids.ts";
import { WebliskRefusal, type WireAnswer } from "../../../src/weblisk/wire/refusal.ts";

/** Files of a state directory, in memory. */
const makeFiles = (): RequestIdFiles => {
  const files = new Map<string, string>();
  return {
    names: () => [...files.keys()],
    read: <T>(_: string, name: string) => {
      const text = files.get(name);
      return text === undefined ? undefined : (JSON.parse(text) as T);
    },
    write: (_, name, value) => void files.set(name, JSON.stringify(value)),
    remove: (_, name) => void files.delete(name),
    tidy: () => true,
  };
};

const asked = { sender: "a", id: "1", digest: "x", keepsAnswer: true };
const counted = () => {
  let done = 0;
  const work = async (): Promise<WireAnswer> => {
    done += 1;
    return { status: 200, body: { done }, headers: {} };
  };
  return { work, times: () => done };
};

it("the same request has its first answer for 300 seconds, and is done again after that", async () => {
  const table = new RequestIdTable(makeFiles());
  const { work, times } = counted();
  const first = await table.once(asked, 0, work);
  expect(await table.once(asked, 300_000, work)).toBe(first);
  expect(times()).toBe(1);
  expect(await table.once(asked, 300_001, work)).not.toBe(first);
});

it("without a kept answer, the same request is looked at again", async () => {
  const table = new RequestIdTable(makeFiles());
  const { work, times } = counted();
  for (let sent = 0; sent < 2; sent += 1) await table.once({ ...asked, keepsAnswer: false }, 0, work);
  expect(times()).toBe(2);
});

it("another request with the id has 409, also while the first one is at work; another agent's is its own", async () => {
  const table = new RequestIdTable(makeFiles());
  const { work, times } = counted();
  let finish = (_: WireAnswer): void => undefined;
  const slow = table.once(
    asked,
    0,
    () =>
      new Promise((resolve) => {
        finish = resolve;
      }),
  );
  const other = { ...asked, digest: "y" };
  await expect(table.once(other, 0, work)).rejects.toMatchObject({
    facts: { http: 409, reason: "request_id_reused" },
  });
  await table.once({ ...other, sender: "b" }, 0, work);
  expect(times()).toBe(1);
  finish({ status: 200, body: {}, headers: {} });
  await slow;
  await expect(table.once(other, 0, work)).rejects.toThrow(WebliskRefusal);
});

it("the id of a request that was refused may come again, with another one", async () => {
  const table = new RequestIdTable(makeFiles());
  const refused = new WebliskRefusal("FORBIDDEN", "No.");
  await expect(table.once(asked, 0, () => Promise.reject(refused))).rejects.toBe(refused);
  expect(await table.once({ ...asked, digest: "y" }, 0, counted().work)).toMatchObject({ status: 200 });
});

it("a full table refuses, for one agent and for all, until the oldest ids are over", async () => {
  const table = new RequestIdTable(makeFiles(), 3, 2);
  const take = (sender: string, id: string, now = 0) =>
    table.once({ ...asked, sender, id }, now, counted().work);
  await take("a", "1");
  await take("a", "2");
  const full = { code: "RATE_LIMITED", facts: { reason: "request_ids_full" } };
  await expect(take("a", "3")).rejects.toMatchObject(full);
  await take("b", "1");
  await expect(take("c", "1")).rejects.toMatchObject(full);
  expect(await take("a", "3", 300_001)).toMatchObject({ status: 200 });
});

it("a server that starts again knows the ids: the first answer, 409 for another request, and the window", async () => {
  const files = makeFiles();
  const { work, times } = counted();
  const first = await new RequestIdTable(files).once(asked, 0, work);
  expect(await new RequestIdTable(files).once(asked, 300_000, work)).toEqual(first);
  await expect(new RequestIdTable(files).once({ ...asked, digest: "y" }, 0, work)).rejects.toMatchObject({
    facts: { http: 409 },
  });
  expect(times()).toBe(1);
  await new RequestIdTable(files).once({ ...asked, digest: "y" }, 300_001, work);
  expect(times()).toBe(2);
});

it("an id whose server died before there was an answer is done again, and a full table counts those on disk", async () => {
  const files = makeFiles();
  void new RequestIdTable(files).once(asked, 0, () => new Promise(() => undefined));
  const { work, times } = counted();
  const later = new RequestIdTable(files, 1);
  await later.once(asked, 0, work);
  expect(await later.once(asked, 0, work)).toMatchObject({ body: { done: 1 } });
  expect(times()).toBe(1);
  await expect(new RequestIdTable(files, 1).once({ ...asked, id: "2" }, 0, work)).rejects.toMatchObject({
    facts: { reason: "request_ids_full" },
  });
});

it("a digest differs by the method, the address and the body", () => {
  const digests = [
    ["POST", "/v1/task", "{}"],
    ["DELETE", "/v1/task", "{}"],
    ["POST", "/v1/event", "{}"],
    ["POST", "/v1/task", "{ }"],
  ].map(([method, url, body]) => requestDigest(method!, url!, Buffer.from(body!)));
  expect(new Set(digests).size).toBe(4);
});
