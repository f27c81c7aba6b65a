/** schedule/*: workers that start at times. */
import type { RequestName } from "../../protocol/requests.ts";
import { command, type Handlers, keyed, read } from "./handler.ts";

export const SCHEDULES: Handlers<Extract<RequestName, `schedule/${string}`>> = {
  "schedule/add": keyed(
    command(({ schedules }, { schedule, caller }) => schedules.add(schedule, { caller })),
  ),
  "schedule/list": read(({ schedules }, page) => schedules.list(page)),
  "schedule/show": read(({ schedules }, { name }) => schedules.show(name)),
  "schedule/next": read(({ schedules }, asked) => schedules.next(asked)),
  "schedule/remove": keyed(command(({ schedules }, { name, caller }) => schedules.remove(name, { caller }))),
  "schedule/pause": keyed(command(({ schedules }, { name, caller }) => schedules.pause(name, { caller }))),
  "schedule/resume": keyed(command(({ schedules }, { name, caller }) => schedules.resume(name, { caller }))),
  "schedule/run": keyed(command(({ schedules }, { name, caller }) => schedules.run(name, { caller }))),
};
