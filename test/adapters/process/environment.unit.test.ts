import { describe, expect, test } from "vitest";
import {
  buildEnvironment,
  type EnvironmentSource,
  keptEnvironment,
} from "../../../src/adapters/process/environment.ts";

const files: Record<string, string> = { "/work/key": "from file\n", "/abs/key": "s3cret" };
const build = (spec: Partial<EnvironmentSource["spec"]>, more: Partial<EnvironmentSource> = {}) =>
  buildEnvironment({
    spec: { client_env: {}, env: {}, inherit_env: [], cwd: "/work", ...spec },
    credentials: [],
    planned: {},
    readFile: async (path) => {
      const text = files[path];
      if (text === undefined) throw Object.assign(new Error("ENOENT"), { code: "ENOENT" });
      return text;
    },
    ...more,
  });

describe("a child's environment", () => {
  test("has of the client's what any program needs, and nothing else", async () => {
    const client_env = {
      PATH: "/bin",
      HOME: "/h",
      LC_ALL: "C",
      XDG_DATA_HOME: "/x",
      https_proxy: "p",
      AWS_SECRET: "no",
      LD_PRELOAD: "no",
    };
    const { env, secrets } = await build({ client_env });
    expect(env).toEqual({ PATH: "/bin", HOME: "/h", LC_ALL: "C", XDG_DATA_HOME: "/x", https_proxy: "p" });
    expect(secrets).toEqual([]);
  });

  test("has the credentials that its kind declares, and they are secrets", async () => {
    const { env, secrets } = await build(
      { client_env: { PATH: "/bin", A_KEY: "k", B_KEY: "other" } },
      { credentials: ["A_KEY"] },
    );
    expect(env).toEqual({ PATH: "/bin", A_KEY: "k" });
    expect(secrets).toEqual(["k"]);
  });

  test("takes --env before --inherit-env before the adapter's before the client's", async () => {
    const client_env = { TZ: "client", LANG: "client", HOME: "client", X: "inherited" };
    const { env } = await build(
      { client_env, inherit_env: ["X", "LANG", "MISSING"], env: { TZ: "given" } },
      { planned: { TZ: "planned", HOME: "planned", LANG: "planned" } },
    );
    expect(env).toMatchObject({ TZ: "given", LANG: "client", HOME: "planned", X: "inherited" });
    expect(env).not.toHaveProperty("MISSING");
  });

  test("has a PATH even where the client sent none", async () => {
    expect((await build({})).env.PATH).toContain("/bin");
  });

  test("never has the marker of another run", async () => {
    const marker = { HOLDFAST_RUN: "foreign/w/1", HOLDFAST_PLACED: "other/w/3/continue" };
    const { env } = await build(
      { client_env: marker, inherit_env: Object.keys(marker), env: marker },
      { planned: marker },
    );
    for (const name of Object.keys(marker)) expect(env).not.toHaveProperty(name);
  });

  test("takes a plain --env for a secret by its name, and a declared base URL or settings directory for none", async () => {
    const { secrets } = await build(
      {
        client_env: {
          ANTHROPIC_BASE_URL: "http://127.0.0.1:1",
          CODEX_HOME: "/h/.codex",
          OTHER_TOKEN: "inherited",
        },
        env: { API_KEY: "plain", MODE: "fast" },
        inherit_env: ["OTHER_TOKEN"],
      },
      { credentials: ["ANTHROPIC_BASE_URL", "CODEX_HOME"] },
    );
    expect([...secrets].sort()).toEqual(["inherited", "plain"]);
  });

  test("resolves references to the client's variables and to files, and they are secrets", async () => {
    const { env, secrets } = await build({
      client_env: { TOKEN: "t0ken" },
      env: { A: "@env:TOKEN", B: "@file:key", C: "@file:/abs/key", D: "plain", E: "@other" },
    });
    expect(env).toMatchObject({ A: "t0ken", B: "from file", C: "s3cret", D: "plain", E: "@other" });
    expect(secrets).toEqual(["t0ken", "from file", "s3cret"]);
  });

  test.each(["@env:MISSING", "@file:/missing"])(
    "%s that names nothing is SECRET_UNAVAILABLE",
    async (reference) => {
      await expect(build({ env: { KEY: reference } })).rejects.toMatchObject({
        code: "SECRET_UNAVAILABLE",
        message: expect.stringContaining("KEY refers to"),
      });
    },
  );

  test("refuses every name that a shell would not pass on, all at once", async () => {
    await expect(build({ env: { "a.b": "1", "2X": "2", OK: "3" } })).rejects.toMatchObject({
      code: "INVALID_REQUEST",
      info: { problems: [expect.anything(), expect.anything()] },
    });
  });
});

test("with the launch spec is kept what an incarnation needs, and no key of another kind", () => {
  const client_env = {
    PATH: "/bin",
    A_KEY: "a",
    OTHER_KEY: "o",
    NAMED: "n",
    REFERENCED: "r",
    CLAUDE_BINARY: "/c",
  };
  const spec = { client_env, env: { X: "@env:REFERENCED" }, inherit_env: ["NAMED"], cwd: "/" };
  expect(keptEnvironment(spec, ["A_KEY", "CLAUDE_BINARY"])).toEqual({
    PATH: "/bin",
    A_KEY: "a",
    NAMED: "n",
    REFERENCED: "r",
    CLAUDE_BINARY: "/c",
  });
});
