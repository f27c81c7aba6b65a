/** News of another host: they name it, and what they advise leads there. Pure. */
import { NOTIFY_TITLE_MAX_CHARS } from "../../base/limits.ts";
import { commandLine } from "../../base/shell.ts";
import { type Notice, plain } from "./notice.ts";

/** `under` of a target may mean a worker by its own names, and by HOST/NAME. */
export const noticeOfHost = (host: string, notice: Notice): Notice => {
  const { subject, title, command } = notice;
  return {
    ...notice,
    host,
    subject: { ...subject, within: [...subject.within, ...subject.within.map((name) => `${host}/${name}`)] },
    title: plain(`${host}: ${title}`, NOTIFY_TITLE_MAX_CHARS),
    command: command.replace(/^agent /, () => `agent ${commandLine(["--host", host])} `),
  };
};
