import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { pageOf, sortedPage } from "../../src/daemon/page.ts";
import { worker } from "../cli/support/samples.ts";

const fleet = (ids: readonly string[]) => ids.map((id) => worker({ id }));
const idsOf = (page: ReturnType<typeof pageOf>) => page.workers.map(({ id }) => id);

describe("a page of a fleet", () => {
  it("has all without a limit, in order of their ids", () => {
    const page = pageOf(fleet(["c", "a", "b"]));
    expect(idsOf(page)).toEqual(["a", "b", "c"]);
    expect(page).toMatchObject({ total: 3 });
    expect(page).not.toHaveProperty("cursor");
  });

  it("and those that follow it have each worker once, whoever starts and ends between them", () => {
    const id = fc.integer({ min: 100, max: 999 }).map(String);
    const changes = fc.record({ started: fc.array(id), ended: fc.array(id) });
    fc.assert(
      fc.property(
        fc.uniqueArray(id),
        fc.array(changes),
        fc.integer({ min: 1, max: 5 }),
        (ids, between, limit) => {
          let now = new Set(ids);
          const gone = new Set<string>();
          const seen: string[] = [];
          for (let cursor: string | undefined = ""; cursor !== undefined; ) {
            const page: ReturnType<typeof pageOf> = pageOf(fleet([...now]), limit, cursor);
            seen.push(...idsOf(page));
            cursor = page.cursor;
            const { started = [], ended = [] } = between.shift() ?? {};
            for (const each of ended) gone.add(each);
            now = new Set([...now, ...started].filter((each) => !ended.includes(each)));
          }
          expect(new Set(seen).size).toBe(seen.length);
          expect(ids.filter((each) => !gone.has(each) && !seen.includes(each))).toEqual([]);
        },
      ),
    );
  });
});

describe("another order", () => {
  const workers = [
    { id: "a", name: "z", usage: { cost_usd: 2 }, ended_at: null },
    { id: "b", name: null, usage: { cost_usd: null }, ended_at: "2026" },
    { id: "c", name: "x", usage: { cost_usd: null, estimated_usd: 3 }, ended_at: "2025" },
    { id: "d", name: "x", usage: { cost_usd: 0 }, ended_at: null },
  ] as unknown as Parameters<typeof sortedPage>[0];
  it.each([
    ["name", ["c", "d", "a", "b"]],
    ["-name", ["a", "c", "d", "b"]],
    ["cost", ["d", "a", "c", "b"]],
    ["-cost", ["c", "a", "d", "b"]],
    ["ended", ["c", "b", "a", "d"]],
  ] as const)("%s: a worker without it comes last, equal ones by id", (sort, ids) => {
    expect(sortedPage(workers, sort).workers.map(({ id }) => id)).toEqual(ids);
  });
  it("has the first ones, and no cursor", () => {
    const page = sortedPage(workers, "-cost", 2);
    expect(page.workers.map(({ id }) => id)).toEqual(["c", "a"]);
    expect(page).toMatchObject({ total: 4 });
    expect(page).not.toHaveProperty("cursor");
  });
});
