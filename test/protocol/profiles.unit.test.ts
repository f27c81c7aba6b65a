/** A profile is declared only where all its commands are there. */
import { expect, it } from "vitest";
import { PROFILES } from "../../src/commands/profiles.ts";
import { HANDLERS } from "../../src/daemon/handlers/index.ts";
import { PROFILES as OF_DAEMON } from "../../src/daemon/profiles.ts";
import { profilesOf, RESERVED } from "../../src/protocol/profiles.ts";

it("the declared profiles are those that the daemon's handlers are enough for", () => {
  expect(OF_DAEMON).toEqual(PROFILES);
  expect(PROFILES).toEqual(profilesOf(Object.keys(HANDLERS)));
  expect(PROFILES).toEqual(["core/v1", "agent/v1", "plugin/v1"]);
});

it.each(Object.entries(RESERVED))(
  "%s is declared with all its commands, and not with one less",
  (profile, commands) => {
    expect(profilesOf(commands)).toEqual([profile]);
    for (const missing of commands)
      expect(profilesOf(commands.filter((command) => command !== missing))).toEqual([]);
  },
);
