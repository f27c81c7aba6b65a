/** The answers of a node that cannot do what was asked. */
import { ClusterTablesError } from "../../cluster/postgres/migrate.ts";
import { HoldfastError } from "../../protocol/errors.ts";
import { sentenceOf } from "./trouble.ts";

export const refusalOf = (cause: unknown): HoldfastError => {
  if (cause instanceof HoldfastError) return cause;
  if (!(cause instanceof ClusterTablesError))
    return new HoldfastError(
      "UNAVAILABLE",
      `The database refuses, or does not answer: ${sentenceOf(cause)}`,
      {
        suggestion: "Check the address, the user and the network, and try again.",
      },
    );
  return new HoldfastError("INVALID_STATE", cause.message, {
    suggestion: cause.next,
  });
};

export const otherNode = (name: string): HoldfastError =>
  new HoldfastError(
    "INVALID_STATE",
    `This daemon is the node ${name} already, with another address, endpoint, label or capacity.`,
    {
      suggestion: "Leave first: agent cluster leave",
    },
  );

export const nameTaken = (name: string): HoldfastError =>
  new HoldfastError("ALREADY_EXISTS", `A node ${name} lives in the cluster.`, {
    suggestion: "Give this one another name with --name.",
  });

export const stillPlaced = (count: number): HoldfastError =>
  new HoldfastError("INVALID_STATE", `${count === 1 ? "1 worker is" : `${count} workers are`} placed here.`, {
    suggestion: "See them with: agent cluster status",
  });

export const noSuchNode = (node: string): HoldfastError =>
  new HoldfastError("INVALID_REQUEST", `The cluster has no node ${node}.`, {
    suggestion: "See the nodes with: agent cluster status",
  });
