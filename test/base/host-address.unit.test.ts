import { describe, expect, it } from "vitest";
import { hostNamesIn, parseHost, relayArgv } from "../../src/base/host-address.ts";

const RELAY = ["agent", "relay", "--stdio", "--state-dir", "/a b"];

describe("a host", () => {
  it.each([
    ["ssh://build", ["ssh", "-T", "--", "build"]],
    ["ssh://ci@build.example:2222", ["ssh", "-T", "-p", "2222", "--", "ci@build.example"]],
    ["ssh://[::1]:22/", ["ssh", "-T", "-p", "22", "--", "::1"]],
  ])("%s is reached by ssh, whose shell gets one line", (text, reach) => {
    expect(relayArgv(parseHost(text)!, RELAY)).toEqual([...reach, "agent relay --stdio --state-dir '/a b'"]);
  });

  it("exec: is reached by any program, word for word", () => {
    expect(relayArgv(parseHost("exec: docker  exec -i box")!, RELAY)).toEqual([
      ...["docker", "exec", "-i", "box"],
      ...RELAY,
    ]);
  });

  it.each([
    ["nothing", ""],
    ["no scheme", "build"],
    ["an option of ssh", "ssh://-oProxyCommand=x"],
    ["an option of ssh as a user", "ssh://-l@build"],
    ["a path", "ssh://build/home"],
    ["a password", "ssh://me:secret@build"],
    ["a space", "ssh://build x"],
    ["port 0", "ssh://build:0"],
    ["a port over 65535", "ssh://build:65536"],
    ["no program", "exec: "],
    ["another scheme", "http://build"],
  ])("is not %s", (_, text) => {
    expect(parseHost(text)).toBeUndefined();
  });
});

it.each([
  ["build", ["build"]],
  ["build, box", ["build", "box"]],
  ["build,exec:sh -c a,b", ["build", "exec:sh -c a,b"]],
  ["exec:sh -c a,b", ["exec:sh -c a,b"]],
  ["build,", ["build", ""]],
  [",exec:true", ["", "exec:true"]],
  [" ", [""]],
])("the hosts of %j", (text, names) => expect(hostNamesIn(text)).toEqual(names));
