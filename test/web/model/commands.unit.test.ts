import { expect, it } from "vitest";
import { atHost } from "../../../src/web/model/commands.ts";

it.each([
  [undefined, "agent inbox", "agent inbox"],
  ["local", "agent inbox", "agent inbox"],
  ["build", "agent kill 'agent smith'", "agent --host build kill 'agent smith'"],
  ["exec:docker exec box", "agent list", "agent --host 'exec:docker exec box' list"],
  ["build", "agentless", "agentless"],
])("a command for the host %j", (host, command, there) => expect(atHost(host, command)).toBe(there));
