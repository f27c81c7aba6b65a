/** supervisor_SUITE, groups normal_, shutdown_ and abnormal_termination. A title begins with the name of its case. */
import { describe, expect, it } from "vitest";
import type { RestartPolicy } from "../../../src/protocol/worker.ts";
import { supervisor, World, worker } from "../tree/world.ts";

const one = (restart: RestartPolicy) =>
  new World(supervisor("top", { max_restarts: 2 }, worker("a", { restart }), worker("b"))).apply();

/** A supervisor that ends with OTP's reason `shutdown`, since it has had its restarts. */
const ending = (restart: RestartPolicy) =>
  new World(
    supervisor("top", {}, supervisor("mid", { restart, max_restarts: 0 }, worker("leaf")), worker("b")),
  )
    .apply()
    .exit("mid/leaf");

describe("normal_termination", () => {
  it("permanent_normal: a permanent child that ends well is started again", () => {
    expect(one("permanent").exit("a", 0).history.slice(2)).toEqual(["-a", "+a"]);
  });
  it("transient_normal: a transient child that ends well is not started again", () => {
    const world = one("transient").exit("a", 0);
    expect([world.running(), world.state("a"), world.phase("top")]).toEqual([["b"], "completed", "running"]);
  });
  it("temporary_normal: a temporary child that ends well is not started again", () => {
    const world = one("temporary").exit("a", 0);
    expect([world.running(), world.state("a"), world.phase("top")]).toEqual([["b"], "completed", "running"]);
  });
});

describe("shutdown_termination", () => {
  it("permanent_shutdown: a permanent supervisor that ends with shutdown is started again", () => {
    const world = ending("permanent");
    expect(world.history.slice(2)).toEqual(["-mid/leaf", "+mid/leaf"]);
    expect(world.phase("mid")).toBe("running");
  });
  it("transient_shutdown: a transient supervisor that ends with shutdown is not started again", () => {
    const world = ending("transient");
    expect([world.running(), world.phase("mid"), world.phase("top")]).toEqual([
      ["b"],
      "terminated",
      "running",
    ]);
  });
  it("temporary_shutdown: a temporary supervisor that ends with shutdown is not started again", () => {
    const world = ending("temporary");
    expect([world.running(), world.phase("mid"), world.phase("top")]).toEqual([
      ["b"],
      "terminated",
      "running",
    ]);
  });
  it("faulty_application_shutdown: a child that crashes on its way down does not keep its supervisors up", () => {
    const world = new World(
      supervisor("top", {}, supervisor("mid", { max_restarts: 0 }, worker("a"), worker("b"))),
    ).apply();
    world.tempers["mid/b"] = { stop_code: 1 };
    world.ask("down", "top");
    expect(world.history.slice(2)).toEqual(["-mid/b", "-mid/a"]);
    expect(world.phase("top")).toBe("terminated");
    expect(world.types()).not.toContain("supervisor_restart_scheduled");
  });
});

describe("abnormal_termination", () => {
  it.each([1, null])("permanent_abnormal: a permanent child that ends with %s is started again", (code) => {
    expect(one("permanent").exit("a", code).running()).toEqual(["a", "b"]);
  });
  it.each([1, null])("transient_abnormal: a transient child that ends with %s is started again", (code) => {
    expect(one("transient").exit("a", code).running()).toEqual(["a", "b"]);
  });
  it.each([1, null])(
    "temporary_abnormal: a temporary child that ends with %s is not started again",
    (code) => {
      const world = one("temporary").exit("a", code);
      expect([world.running(), world.state("a"), world.phase("top")]).toEqual([["b"], "failed", "running"]);
    },
  );
  it.each(["one_for_all", "rest_for_one"] as const)(
    "temporary_bystander: %s stops a temporary sibling and does not start it again",
    (strategy) => {
      const world = new World(
        supervisor("top", { strategy }, worker("a"), worker("b", { restart: "temporary" })),
      ).apply();
      expect(world.exit("a").history.slice(2)).toEqual(["-a", "-b", "+a"]);
      expect(world.state("b")).toBe("cancelled");
      expect(world.exit("a").history.slice(5)).toEqual(["-a", "+a"]);
    },
  );
});
