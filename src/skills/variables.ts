/** Variables of a skill's environment. All others of the daemon and of the client are unset. */

/** The directory that it sees as its workspace; absent if its manifest wants none. */
export const SKILL_WORKSPACE = "HOLDFAST_SKILL_WORKSPACE";
/** The socket of its proxy, in a container: its image has no tunnel of ours. */
export const SKILL_PROXY = "HOLDFAST_SKILL_PROXY";
/** A private directory of the skill and workspace, that lasts. */
export const SKILL_STATE = "HOLDFAST_SKILL_STATE";
