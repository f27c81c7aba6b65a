/** The errors of calls about notifications. */
import { HoldfastError } from "../../protocol/errors.ts";

export const noTarget = (wanted = "", names: readonly string[]): HoldfastError =>
  new HoldfastError("INVALID_REQUEST", `There is no target ${wanted}; there are ${names.join(", ")}.`, {
    suggestion: "See them with `agent notify list`; a daemon reads config.yaml when it starts.",
    phase: "validation",
  });

export const notDead = (id: string): HoldfastError =>
  new HoldfastError("INVALID_REQUEST", `No notification that was given up has the id ${id}.`, {
    suggestion: "See them with `agent notify list`.",
    phase: "validation",
  });

/** A link of a question outlives the host's name in config.yaml. */
export const notFollowed = (host: string): HoldfastError =>
  new HoldfastError("UNAVAILABLE", `This daemon does not follow the host ${host} any more.`, {
    suggestion: `Answer there: agent --host ${host} inbox`,
  });
