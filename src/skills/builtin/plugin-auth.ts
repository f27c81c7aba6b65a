/** plugin/auth: tells where http/openapi would put the credentials of a request, and whether it has them. Their values stay masked. */
import * as z from "zod";
import { authSchema, credentialsOf } from "../openapi/auth.ts";
import type { BuiltinSkill } from "../skill.ts";

const input = z.strictObject({ auth: authSchema.describe("credentials by the name of a secret") });
type AuthInput = z.output<typeof input>;

const output = z.object({
  type: z.string(),
  /** The places of a request that would hold a credential. */
  credentials: z.array(
    z.object({
      in: z.enum(["header", "query", "cookie"]),
      name: z.string(),
      /** `Bearer ***`. */
      shown: z.string(),
    }),
  ),
});
type AuthOutput = z.output<typeof output>;

export const pluginAuth: BuiltinSkill<AuthInput, AuthOutput> = {
  name: "plugin/auth",
  summary: "Show where the credentials of a request go.",
  version: "1.0.0",
  effect: "any",
  input,
  output,
  network: "none",
  run: async ({ auth }, { secret }) => ({
    type: auth.type,
    credentials: credentialsOf(auth, secret).placed.map(({ in: place, name, shown }) => ({
      in: place,
      name,
      shown,
    })),
  }),
};
