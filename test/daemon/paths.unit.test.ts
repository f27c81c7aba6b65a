import { describe, expect, test } from "vitest";
import { SOCKET_PATH_MAX_BYTES } from "../../src/base/limits.ts";
import { runtimeLink, socketPath, stateDirectory } from "../../src/daemon/paths.ts";

describe("the state directory", () => {
  test("is HOLDFAST_HOME before all others, made absolute", () => {
    expect(stateDirectory({ HOLDFAST_HOME: "/h", XDG_STATE_HOME: "/x" }, "/home/me", "/cwd")).toBe("/h");
    expect(stateDirectory({ HOLDFAST_HOME: "h/" }, "/home/me", "/cwd")).toBe("/cwd/h");
  });

  test("is under XDG_STATE_HOME, where that is absolute", () => {
    expect(stateDirectory({ HOLDFAST_HOME: "", XDG_STATE_HOME: "/x" }, "/home/me", "/cwd")).toBe(
      "/x/holdfast",
    );
    expect(stateDirectory({ XDG_STATE_HOME: "x" }, "/home/me", "/cwd")).toBe(
      "/home/me/.local/state/holdfast",
    );
  });

  test("is in the home directory otherwise", () => {
    expect(stateDirectory({}, "/home/me", "/cwd")).toBe("/home/me/.local/state/holdfast");
  });
});

describe("the socket", () => {
  test("is inside its state directory", () => {
    expect(socketPath("/s", 1000)).toBe("/s/agent.sock");
  });

  test("is a short path of the user's own where the state directory's is too long, and differs by state directory", () => {
    const room = SOCKET_PATH_MAX_BYTES - "/agent.sock".length;
    const fits = `/${"d".repeat(room - 1)}`;
    const tooLong = `/${"d".repeat(room)}`;
    expect(socketPath(fits, 1000)).toBe(`${fits}/agent.sock`);
    expect(socketPath(tooLong, 1000)).toMatch(/^\/tmp\/holdfast-1000\/[0-9a-f]{16}\.sock$/);
    expect(socketPath(tooLong, 1000)).not.toBe(socketPath(`${tooLong}e`, 1000));
    expect(socketPath(tooLong, 1000)).toBe(socketPath(tooLong, 1000));
  });

  test("is counted in bytes, not in characters", () => {
    expect(socketPath(`/${"é".repeat(50)}`, 1000)).toMatch(/^\/tmp\//);
  });
});

describe("the link in the runtime directory", () => {
  const env = { XDG_RUNTIME_DIR: "/run/user/1000", XDG_STATE_HOME: "/x" };

  test("belongs to the default state directory", () => {
    expect(runtimeLink("/x/holdfast", env, "/home/me")).toBe("/run/user/1000/holdfast/agent.sock");
  });

  test("is not made for another state directory, under HOLDFAST_HOME, or without a runtime directory", () => {
    expect(runtimeLink("/other", env, "/home/me")).toBeUndefined();
    expect(runtimeLink("/x/holdfast", { ...env, HOLDFAST_HOME: "/x/holdfast" }, "/home/me")).toBeUndefined();
    expect(runtimeLink("/x/holdfast", { ...env, XDG_RUNTIME_DIR: "" }, "/home/me")).toBeUndefined();
  });
});
