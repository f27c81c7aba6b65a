/** `agent identity rotate`: another key for an identity, also at the orchestrators elsewhere that know it. */
import { randomBytes } from "node:crypto";
import { success } from "../../protocol/outcome.ts";
import type { AlgorithmName } from "../../protocol/words.ts";
import { nameIn } from "../commands/identity.ts";
import type { CommandHandler } from "../context.ts";

const files = () => import("../../weblisk/identity/opened.ts");
const client = () => import("../../weblisk/client/opened.ts");

export const rotate: CommandHandler = async (context) => {
  const [
    { rotateIdentity, rotationOf, publicPart },
    { clientGround, noteRotation, readyToRotate, tellRotation },
  ] = await Promise.all([files(), client()]);
  const name = await nameIn(context);
  const ground = clientGround(context.stateDir);
  await readyToRotate(ground, name);
  const when = () => ({
    timestamp: Math.floor(Date.now() / 1_000),
    nonce: randomBytes(16).toString("hex"),
  });
  const { key, rotation } = rotateIdentity(context.stateDir, name, {
    ...when(),
    algorithm: context.flags.algorithm as AlgorithmName | undefined,
    beforehand: (before, after) =>
      noteRotation(ground.files, name, (there) => rotationOf(there, before, after, when())),
  });
  const told = await tellRotation(ground, name);
  for (const { url, error } of told)
    if (error !== undefined)
      context.warn(
        `${error.message} The next task for ${url} tells it again, and it takes the new key until five minutes from now; after that its operator grants rights again.`,
      );
  const registrations = told.map(({ url, name: there, error }) => ({
    url,
    name: there,
    is_told: error === undefined,
  }));
  return success({ ...publicPart(name, key), rotation, registrations, effect: "updated" });
};
