import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { pageOf } from "../../src/daemon/page.ts";
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
