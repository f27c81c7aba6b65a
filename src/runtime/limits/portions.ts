/** Which part of a cluster's budget this machine has for an owner, if it is one of a cluster. */
import type { Budgets } from "../../actors/ports.ts";
import type { EventLog } from "../../store/event-log.ts";
import { lifeOfTree } from "../fold.ts";
import { askerOf, type Owner } from "./budget-owners.ts";
import { PortionedBudget } from "./leased.ts";
import { SharedPortion } from "./shared.ts";

interface PortionPorts {
  readonly budgets?: Budgets | undefined;
  readonly log: EventLog;
  readonly monoMs: () => number;
}

export const portionFor = (
  owner: Owner,
  { budgets, log, monoMs }: PortionPorts,
): PortionedBudget | undefined => {
  const { leased: name, budget, tree } = owner;
  if (budgets === undefined || name === undefined) return undefined;
  const holder = tree === null ? askerOf(owner) : lifeOfTree(log, tree);
  const Portion = "tree" in name ? SharedPortion : PortionedBudget;
  return new Portion(budgets, { name, holder, budget }, monoMs);
};
