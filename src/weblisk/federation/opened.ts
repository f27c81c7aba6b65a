/** Federation as the command line loads it. */
export { HubAsker } from "./asking.ts";
export { postToHub } from "./exchange.ts";
export { FederationGateway, type GatewayGround } from "./gateway.ts";
export { keepOwnHub, ownHub } from "./hub-files.ts";
export type { PeerDesk } from "./ports.ts";
