import { describe, expect, it } from "vitest";
import { HOSTS_MAX } from "../../src/base/limits.ts";
import { HostPlaces } from "../../src/protocol/host-places.ts";
import { hostsCursorOf, readHostsCursor } from "../../src/protocol/hosts-cursor.ts";

describe("the places of a reader of several hosts", () => {
  it("are the newest of each host", () => {
    const places = new HostPlaces(undefined);
    places.at("build", { store_id: "s", cursor: "e:1" });
    places.at("box", { store_id: "t", cursor: "f:2" });
    places.at("build", { store_id: "s", cursor: "e:3" });
    expect(places.cursor()).toBe("s=e:3,t=f:2");
  });

  it("keep a place of the beginning until its host has a newer one", () => {
    const places = new HostPlaces("s=e:1,t=f:2");
    places.at("build", { store_id: "s", cursor: "e:3" });
    expect(places.cursor()).toBe("s=e:3,t=f:2");
    places.at("box", { store_id: "t", cursor: places.beginningOf("t") });
    places.at("box", { store_id: "t", cursor: "f:4" });
    expect(places.cursor()).toBe("s=e:3,t=f:4");
  });

  it("have none of a host whose place is not known yet", () => {
    const places = new HostPlaces(0);
    expect(places.isEmpty).toBe(true);
    places.at("build", { store_id: "s", cursor: "e:1" });
    places.at("box", { store_id: "t", cursor: undefined });
    expect(places.cursor()).toBe("s=e:1");
    expect(places.of("box")).toEqual({ store_id: "t", cursor: undefined });
  });

  it("refuse two names of one daemon", () => {
    const places = new HostPlaces(undefined);
    places.at("build", { store_id: "s", cursor: "e:1" });
    expect(() => places.at("twin", { store_id: "s", cursor: "e:1" })).toThrow(
      "build and twin are the same daemon.",
    );
  });

  it("are never more than a cursor can have, and those of the hosts are among them", () => {
    const known = new Map(Array.from({ length: HOSTS_MAX }, (_, at) => [`old-${at}`, "e:1"]));
    const places = new HostPlaces(hostsCursorOf(known));
    places.at("build", { store_id: "s", cursor: "e:1" });
    const read = readHostsCursor(places.cursor());
    expect([read?.size, read?.get("s")]).toEqual([HOSTS_MAX, "e:1"]);
  });
});
