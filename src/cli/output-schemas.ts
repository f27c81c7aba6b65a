/**
 * The published JSON Schema of each command's `data`. The build puts the finished schemas in the place of this module
 * (scripts/build.ts): in test mode every command needs one, and making it takes longer than most commands do.
 */
import * as z from "zod";
import type { CommandDef } from "../commands/command.ts";
import { toJson } from "./draft-7.ts";
import { OUTPUTS } from "./schemas.ts";

export const outputSchemaOf = ({ command }: Pick<CommandDef, "command">): object =>
  toJson(OUTPUTS[command] ?? z.json(), "output");
