import { expect, it } from "vitest";
import { makeEventReader } from "../../../src/web/model/server-events.ts";

const STREAM =
  'retry: 2000\n\nid: e:1\ndata: {"seq":1}\n\n:\n\nid: e:2\ndata: {"seq":2}\n\nevent: end\ndata: {}\n\n';

it("gives the same events however the stream is cut", () => {
  for (let at = 0; at <= STREAM.length; at += 1) {
    const read = makeEventReader();
    const events = [...read(STREAM.slice(0, at)), ...read(STREAM.slice(at))];
    expect(events).toEqual([
      { type: "message", id: "e:1", data: '{"seq":1}' },
      { type: "message", id: "e:2", data: '{"seq":2}' },
      { type: "end", id: "", data: "{}" },
    ]);
  }
});

it("joins the lines of one datum", () =>
  expect(makeEventReader()("data: a\ndata:b\n\n")).toEqual([{ type: "message", id: "", data: "a\nb" }]));
