/** Federation as the command line loads it. */
export { SealedVault } from "../../base/files/sealed-vault.ts";
export { HubAsker } from "./asking.ts";
export { postToHub } from "./exchange.ts";
export { GatewayProcess } from "./gateway-process.ts";
export { keepOwnHub, ownHub } from "./hub-files.ts";
export type { OwnHub, PeerDesk } from "./ports.ts";
