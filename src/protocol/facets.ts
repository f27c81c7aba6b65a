/** Names of the facets in the `data` of an AgentEvent that several rooms read (AgentEvent notes, A.3). */
export const SESSION_HANDLE = "agent_api.session.handle.v1";
export const STRUCTURED_TOOLS = "agent_api.tools.structured.v1";
