/** A style sheet that is imported becomes a file beside the program. */
declare module "*.css";
