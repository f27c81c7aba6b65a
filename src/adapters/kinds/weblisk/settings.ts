/** The extension keys of kind `weblisk`. */
export const AS = "backend.weblisk.as.v1";
export const INPUTS = "backend.weblisk.inputs.v1";
export const WORKSPACE = "backend.weblisk.workspace.v1";
